package policy

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/strict"
)

// A Verdict says whether a policy permits one use of a capability, and why.
type Verdict struct {
	Allowed bool
	Rule    string // the rule that decided, in words; empty when no rule matches
	Why     string
}

// A Matcher decides whether rules permit an HTTP request, by the same rules as the capability that sends it.
type Matcher func(rules []Network, method, url string) (Verdict, error)

// Explain says whether p permits a use of a capability: an HTTP method and an http or https URL, which match decides;
// "read" or "write" and fs:PATH, a path as the guest sees it; "read" and env:KEY, sql:NAME or kv:.
func Explain(p *Policy, method, target string, match Matcher) (Verdict, error) {
	scheme, rest, ok := strings.Cut(target, ":")
	if !ok {
		return Verdict{}, fmt.Errorf("%q is not a URL: "+
			"write it as https://api.example.org/v1, fs:/data/file, env:LANG, kv: or sql:main", strict.Clip(target))
	}
	if scheme == "http" || scheme == "https" {
		return match(p.Network, strings.ToUpper(method), target)
	}
	var access Access
	switch strings.ToLower(method) {
	case "read", "get":
		access = Read
	case "write", "put":
		access = Write
	default:
		return Verdict{}, fmt.Errorf("there is no method %q for %s: it is read or write", strict.Clip(method), scheme)
	}
	switch scheme {
	case "fs":
		return p.explainFile("/"+strings.TrimLeft(rest, "/"), access)
	case "env":
		if !slices.Contains(p.Environment, rest) {
			return Verdict{Why: "no rule grants the variable"}, nil
		}
		return verdict(access == Read, "read the environment variable "+rest, "variables are read only"), nil
	case "sql":
		i := slices.IndexFunc(p.SQL, func(s SQL) bool { return s.Name == rest })
		if i < 0 {
			return Verdict{Why: "no rule grants a connection of this name"}, nil
		}
		return verdict(access == Read, p.SQL[i].String(), "databases are read only"), nil
	case "kv":
		if p.KV == nil {
			return Verdict{Why: "no key-value store is granted"}, nil
		}
		return verdict(access == Read || !p.KV.ReadOnly, p.KV.String(), "the store is read only"), nil
	}
	return Verdict{}, fmt.Errorf("unknown scheme %q: it is one of http, https, fs, env, sql, kv", strict.Clip(scheme))
}

func verdict(allowed bool, rule, otherwise string) Verdict {
	if allowed {
		return Verdict{Allowed: true, Rule: rule, Why: "the rule allows it"}
	}
	return Verdict{Rule: rule, Why: otherwise}
}

// explainFile decides by the innermost granted folder that a guest's path is in, as the capability does.
func (p *Policy) explainFile(file string, access Access) (Verdict, error) {
	if path.Clean(file) != file {
		return Verdict{Why: "the path has dot segments or double slashes, which are never allowed"}, nil
	}
	var found *Storage
	for i := range p.Storage {
		s := &p.Storage[i]
		if _, in := below(s.Guest, file); in && (found == nil || len(s.Guest) > len(found.Guest)) {
			found = s
		}
	}
	if found == nil {
		return Verdict{Why: "the path is in no granted folder"}, nil
	}
	return verdict(found.Access&access != 0, found.String(), "the folder is not granted for this access"), nil
}

// maxNear bounds the rules that Near gives.
const maxNear = 8

// Near gives, in words, the rules for the host of a URL that no rule permits; rules for other hosts when there are
// none.
func (p *Policy) Near(rawURL string) (words []string) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	ofHost := slices.DeleteFunc(slices.Clone(p.Network), func(n Network) bool { return !coversHost(n.Host, host) })
	if len(ofHost) == 0 {
		ofHost = p.Network
	}
	for _, n := range ofHost[:min(len(ofHost), maxNear)] {
		words = append(words, n.String())
	}
	return words
}

// Notes returns warnings about p.
func (p *Policy) Notes() (notes []string) {
	for _, k := range sortedKeys(p.Config) {
		if looksSecret(k) {
			notes = append(notes, fmt.Sprintf("the configuration value %s looks like a secret, "+
				"and the provider can read it: consider secrets", k))
		}
	}
	return notes
}
