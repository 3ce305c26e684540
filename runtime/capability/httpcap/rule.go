package httpcap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/wasmres/wasmres/internal/pathpattern"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A Rule allows requests that match all of its fields.
type Rule struct {
	Scheme  string   // "https" or "http"; empty for https
	Host    string   // a name, an IP address, or "*." and a name: all names below that one, not the name itself
	Ports   []uint16 // empty for the port of the scheme
	Methods []string // in upper case; empty for GET and HEAD

	// Paths begin with a slash, are not percent-encoded, and are case-sensitive. A path without "*" allows itself and all
	// paths below it. Otherwise "*" matches any part of a segment, "**" also slashes, and the whole path must match. Empty
	// for all paths.
	Paths []string

	Private bool     // the host may have any address, such as a loopback or private one
	Secrets []string // names of those that requests may carry; over https only, unless Private

	// CacheSecrets caches answers also to requests that carried a secret.
	CacheSecrets bool
}

// A rule is a checked Rule.
type rule struct {
	text           string // as the log shows it
	scheme         string
	host           string // of a wildcard: with a leading dot
	wildcard       bool
	ports          []uint16
	methods        []string
	paths          []*pathpattern.Pattern
	private        bool
	cacheSecrets   bool
	secrets        map[string]secret.Value
	carriesSecrets bool // over https, or private
}

// compileRule checks a rule; bind checks its secrets.
func compileRule(r *Rule) (*rule, error) {
	c := &rule{scheme: r.Scheme, private: r.Private, cacheSecrets: r.CacheSecrets}
	c.ports, c.methods = slices.Clone(r.Ports), slices.Clone(r.Methods)
	if c.scheme == "" {
		c.scheme = "https"
	}
	if c.scheme != "http" && c.scheme != "https" {
		return nil, fmt.Errorf("scheme %q: use https or http", r.Scheme)
	}
	if len(c.ports) == 0 {
		c.ports = []uint16{defaultPort(c.scheme)}
	}
	if len(c.methods) == 0 {
		c.methods = []string{"GET", "HEAD"}
	}
	c.carriesSecrets = c.scheme == "https" || c.private
	c.text = r.String()
	return c, errors.Join(c.compileHost(r.Host), c.checkMethods(), c.compilePaths(r.Paths))
}

func (c *rule) compileHost(host string) (err error) {
	name, wildcard := strings.CutPrefix(host, "*.")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if c.host, err = canonicalHost(name); err != nil {
		return fmt.Errorf("host %q: write a name, an address, or *. and a name: %w", host, err)
	}
	if !wildcard {
		return nil
	}
	if strings.Contains(c.host, ":") || isAddress(c.host) {
		return fmt.Errorf("host %q: an address has no names below it", host)
	}
	c.wildcard, c.host = true, "."+c.host
	return nil
}

func (c *rule) checkMethods() error {
	for _, m := range c.methods {
		if !validMethod(m) {
			return fmt.Errorf("method %q: write it in upper case; CONNECT and TRACE cannot be granted", m)
		}
	}
	return nil
}

func validMethod(m string) bool {
	return httpguts.ValidHeaderFieldName(m) && m == strings.ToUpper(m) && m != "CONNECT" && m != "TRACE"
}

func (c *rule) compilePaths(paths []string) error {
	for _, p := range paths {
		if !strings.HasPrefix(p, "/") {
			return fmt.Errorf("path %q: it must begin with a slash", p)
		}
		pattern, err := pathpattern.Compile(p)
		if err != nil {
			return fmt.Errorf("path %q: %w", p, err)
		}
		c.paths = append(c.paths, pattern)
	}
	return nil
}

// bind looks up the secrets and checks them.
func (c *rule) bind(names []string, store *secret.Store) error {
	c.secrets = map[string]secret.Value{}
	for _, name := range names {
		value, ok := store.Lookup(name)
		if !ok {
			return fmt.Errorf("secret %.64q: no secret has this name", name)
		}
		if err := checkSecret(value); err != nil {
			return fmt.Errorf("secret %.64q: %w", name, err)
		}
		c.secrets[name] = value
	}
	if len(names) > 0 && !c.carriesSecrets {
		return errors.New("secrets may be sent over https only: use the scheme https, or make the rule private")
	}
	return nil
}

// minSecret is the least length of a secret in bytes: shorter texts would occur in responses by chance.
const minSecret = 8

func checkSecret(value secret.Value) error {
	text := value.Reveal()
	if len(text) < minSecret {
		return fmt.Errorf("it has %d bytes: fewer than %d cannot be redacted from responses", len(text), minSecret)
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return errors.New("it has a byte that is not printable ASCII, which header fields cannot have")
		}
	}
	if text[0] == ' ' || text[len(text)-1] == ' ' {
		return errors.New("it begins or ends with a space")
	}
	return nil
}

// Explain returns the rule that decides about a request, and whether it is allowed. It does not resolve the host, nor
// follow redirects, so a request that it allows may still be refused. The error is for invalid rules, URLs and methods.
func Explain(rules []Rule, method, url string) (decides string, allowed bool, err error) {
	t, err := parseTarget(url)
	if err == nil && !validMethod(method) {
		err = fmt.Errorf("guests may not use the method %.32q", method)
	}
	if refused := (*deniedError)(nil); errors.As(err, &refused) {
		return refused.rule, false, nil
	}
	if err != nil {
		return "", false, err
	}
	var compiled []*rule
	for i := range rules {
		c, err := compileRule(&rules[i])
		if err != nil {
			return "", false, fmt.Errorf("rule %d: %w", i+1, err)
		}
		compiled = append(compiled, c)
	}
	c := firstThatAllows(compiled, method, t)
	if c == nil {
		return refusal(method, t), false, nil
	}
	return c.text, true, nil
}

func firstThatAllows(rules []*rule, method string, t *target) *rule {
	for _, c := range rules {
		if c.allows(method, t) {
			return c
		}
	}
	return nil
}

// refusal is the text of the rule when none allows a request.
func refusal(method string, t *target) string { return "none: " + method + " " + t.place() }

// allows reports whether the rule allows a request.
func (c *rule) allows(method string, t *target) bool {
	return t.scheme == c.scheme && c.covers(t.host) && slices.Contains(c.ports, t.port) &&
		slices.Contains(c.methods, method) && c.fits(t.path)
}

func (c *rule) covers(host string) bool {
	if c.wildcard {
		return strings.HasSuffix(host, c.host) && len(host) > len(c.host)
	}
	return host == c.host
}

func (c *rule) fits(path string) bool {
	if len(c.paths) == 0 {
		return true
	}
	return slices.ContainsFunc(c.paths, func(p *pathpattern.Pattern) bool { return p.Match(path) })
}

// String returns the rule as the log shows it, as in "GET,HEAD https://*.example.org/v1".
func (r *Rule) String() string {
	var ports []string
	for _, port := range r.Ports {
		ports = append(ports, strconv.Itoa(int(port)))
	}
	text := orElse(strings.Join(r.Methods, ","), "GET,HEAD") + " " + orElse(r.Scheme, "https") + "://" + r.Host
	if len(ports) > 0 {
		text += ":" + strings.Join(ports, ",")
	}
	text += strings.Join(r.Paths, ",")
	if r.Private {
		text += " (private)"
	}
	return text
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
