package compress

import "strings"

// A Coding is a content coding of HTTP.
type Coding uint8

// The codings, in the order in which they are preferred to one another.
const (
	Identity Coding = iota // as it is
	Gzip
	Zstd
)

// String returns the coding as Content-Encoding names it; empty for Identity, which has no name there.
func (c Coding) String() string {
	switch c {
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return ""
}

// maxMembers bounds the members of a header that are read: no client accepts so many codings.
const maxMembers = 64

// Choose picks the coding a client likes best, given the values of its Accept-Encoding headers (RFC 9110, section
// 12.5.3): the one of greatest weight, of equal ones the later in the list of constants. A coding that is named more
// than once has the least of its weights. Without a header, and with a malformed one, it is Identity; so it is when
// nothing that the client accepts is spoken here.
func Choose(acceptEncoding []string) Coding {
	w := weights{unsaid, unsaid, unsaid, unsaid}
	members := 0
	for _, value := range acceptEncoding {
		for member := range strings.SplitSeq(value, ",") {
			if members++; members > maxMembers || !w.add(strings.Trim(member, " \t")) {
				return Identity
			}
		}
	}
	return w.best()
}

// weights are in thousandths, of each [Coding] and, last, of any other.
type weights [4]int

const (
	anyOther = 3
	unsaid   = -1
)

// add reads one member of the header, and reports whether it is well-formed.
func (w *weights) add(member string) bool {
	if member == "" {
		return true // lists may have empty members
	}
	name, params, weighted := strings.Cut(member, ";")
	weight, ok := 1000, true
	if weighted {
		weight, ok = parseWeight(strings.Trim(params, " \t"))
	}
	name = strings.TrimRight(name, " \t")
	if !ok || !isToken(name) {
		return false
	}
	if i := index(name); i >= 0 && (w[i] == unsaid || weight < w[i]) {
		w[i] = weight
	}
	return true
}

// index returns the place of a coding in weights; -1 for a coding that is not supported.
func index(name string) int {
	switch strings.ToLower(name) {
	case "*":
		return anyOther
	case "identity":
		return int(Identity)
	case "gzip", "x-gzip":
		return int(Gzip)
	case "zstd":
		return int(Zstd)
	}
	return -1
}

func (w *weights) best() Coding {
	best, most := Identity, max(w[Identity], 0)
	for _, c := range [...]Coding{Gzip, Zstd} {
		weight := w[c]
		if weight == unsaid {
			weight = w[anyOther]
		}
		if weight > 0 && weight >= most {
			best, most = c, weight
		}
	}
	return best
}

// parseWeight reads "q=" and a number from 0 to 1 with at most three decimals, in thousandths.
func parseWeight(s string) (weight int, ok bool) {
	if len(s) < 3 || s[0]|0x20 != 'q' || s[1] != '=' || s[2] != '0' && s[2] != '1' {
		return 0, false
	}
	weight = int(s[2]-'0') * 1000
	decimals := s[3:]
	if decimals == "" {
		return weight, true
	}
	if decimals[0] != '.' || len(decimals) > 4 {
		return 0, false
	}
	scale := 100
	for _, c := range []byte(decimals[1:]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		weight += int(c-'0') * scale
		scale /= 10
	}
	return weight, weight <= 1000
}

// isToken reports whether s is a token of HTTP.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
