package symbol

import (
	"strconv"
	"strings"
)

// readable gives a name as its author wrote it, if it is one of nested names alone, as Rust's and many of C++ are:
// "_ZN", then each name with its length before it, then "E". Others stay as they are: demanglers for all of them take
// exponential time on names that are made for it.
func readable(linked string) string {
	rest, nested := strings.CutPrefix(linked, "_ZN")
	var parts []string
	for nested && !strings.HasPrefix(rest, "E") {
		length := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:length])
		if err != nil || n == 0 || n > len(rest)-length {
			return linked
		}
		part := rest[length : length+n]
		if strings.HasPrefix(part, "_$") {
			part = part[1:]
		}
		parts = append(parts, part)
		rest = rest[length+n:]
	}
	if last := len(parts) - 1; last > 0 && isHash(parts[last]) {
		parts = parts[:last]
	}
	if len(parts) == 0 {
		return linked
	}
	return unescape.Replace(strings.Join(parts, "::"))
}

// isHash reports whether a part is what Rust adds to tell instances apart.
func isHash(part string) bool {
	return len(part) == 17 && part[0] == 'h' && strings.Trim(part[1:], "0123456789abcdef") == ""
}

// unescape undoes what Rust does to characters that linkers do not like.
var unescape = strings.NewReplacer(
	"$LT$", "<", "$GT$", ">", "$LP$", "(", "$RP$", ")", "$RF$", "&", "$BP$", "*", "$C$", ",", "$SP$", "@",
	"$u20$", " ", "$u27$", "'", "$u5b$", "[", "$u5d$", "]", "$u7b$", "{", "$u7d$", "}", "$u7e$", "~", "..", "::",
)
