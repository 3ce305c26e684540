package httpcap_test

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

func TestRulesAllowWhatTheySay(t *testing.T) {
	for _, tt := range []struct {
		rule httpcap.Rule
		yes  string // URLs for GET
		no   string
	}{
		{
			httpcap.Rule{Host: "api.example.org"},
			"https://api.example.org https://API.Example.ORG./x?y#z https://api.example.org:443/",
			"http://api.example.org https://example.org https://x.api.example.org https://api.example.org:8443 https://api.example.orgx",
		},
		{
			httpcap.Rule{Host: "*.example.org"},
			"https://a.example.org https://a.b.example.org",
			"https://example.org https://.example.org https://aexample.org https://example.org.evil.org",
		},
		{
			httpcap.Rule{Host: "Bücher.example"}, "https://bücher.example https://xn--bcher-kva.example https://BÜCHER.example",
			"https://bucher.example",
		},
		{httpcap.Rule{Host: "*.bücher.example"}, "https://a.xn--bcher-kva.example", "https://bücher.example"},
		{httpcap.Rule{Scheme: "http", Host: "h", Ports: []uint16{80, 8080}}, "http://h http://h:8080/x", "http://h:81 https://h"},
		{httpcap.Rule{Host: "192.0.2.1"}, "https://192.0.2.1", "https://192.0.2.2 https://192.0.2.1.evil.org"},
		{httpcap.Rule{Host: "2001:DB8::1"}, "https://[2001:db8:0::1]", "https://[2001:db8::2]"},
		{httpcap.Rule{Host: "h", Methods: []string{"POST"}}, "", "https://h"},
		{
			httpcap.Rule{Host: "h", Paths: []string{"/api", "/b/"}},
			"https://h/api https://h/api/ https://h/api/x/y https://h/b https://h/b/c https://h/%61pi",
			"https://h https://h/apix https://h/x/api https://h/API",
		},
		{httpcap.Rule{Host: "h", Paths: []string{"/"}}, "https://h https://h/x", ""},
		{
			httpcap.Rule{Host: "h", Paths: []string{"/a/*/c"}}, "https://h/a/b/c https://h/a/b%20b/c https://h/a/*/c",
			"https://h/a/c https://h/a/b/b/c https://h/a/b/c/ https://h/a/b/c/d",
		},
		{httpcap.Rule{Host: "h", Paths: []string{"/a/**"}}, "https://h/a/b https://h/a/b/c/", "https://h/a https://h/ab"},
		{
			httpcap.Rule{Host: "h", Paths: []string{"/a/**/z.json"}}, "https://h/a/b/z.json https://h/a/b/c/z.json",
			"https://h/a/z.json https://h/a/b/zxjson",
		},
		{httpcap.Rule{Host: "h", Paths: []string{"/a(b|c)"}}, "https://h/a(b%7Cc)", "https://h/ab"},
	} {
		for _, u := range strings.Fields(tt.yes) {
			if _, _, _, _, ok := httpcap.Allows(&tt.rule, "GET", u); !ok {
				t.Errorf("%s does not allow %s", &tt.rule, u)
			}
		}
		for _, u := range strings.Fields(tt.no) {
			if _, _, _, _, ok := httpcap.Allows(&tt.rule, "GET", u); ok {
				t.Errorf("%s allows %s", &tt.rule, u)
			}
		}
	}
}

func TestExplainNamesTheRule(t *testing.T) {
	rules := []httpcap.Rule{{Host: "a.example", Paths: []string{"/x"}}, {Host: "*.example", Secrets: []string{"not stored"}}}
	for _, tt := range []struct {
		method, url, want string
		allowed           bool
	}{
		{"GET", "https://a.example/x/y?z", "GET,HEAD https://a.example/x", true},
		{"GET", "https://a.example/y?z", "GET,HEAD https://*.example", true},
		{"POST", "https://a.example/y?z", "none: POST https://a.example/y", false},
		{"GET", "https://user@a.example/", "url: no user information", false},
		{"GET", "https://127.1/", "host: an IPv4 address as in 192.0.2.1", false},
	} {
		got, allowed, err := httpcap.Explain(rules, tt.method, tt.url)
		if got != tt.want || allowed != tt.allowed || err != nil {
			t.Errorf("%s %s: got %q, %t, %v, want %q", tt.method, tt.url, got, allowed, err, tt.want)
		}
	}
	for _, tt := range []struct{ host, method, url string }{
		{"h", "get", "https://h"}, {"h", "GET", "https://h h"}, {"*", "GET", "https://h"},
	} {
		if got, allowed, err := httpcap.Explain([]httpcap.Rule{{Host: tt.host}}, tt.method, tt.url); err == nil {
			t.Errorf("%v: got %q, %t", tt, got, allowed)
		}
	}
}

func TestInvalidRulesAreRefused(t *testing.T) {
	t.Setenv("WASMRES_TEST_SHORT", "1234567")
	t.Setenv("WASMRES_TEST_ODD", "12345678\n9")
	t.Setenv("WASMRES_TEST_GOOD", "a good secret")
	store, err := secret.Open(map[string]secret.Source{
		"short": secret.Env("WASMRES_TEST_SHORT"), "odd": secret.Env("WASMRES_TEST_ODD"), "good": secret.Env("WASMRES_TEST_GOOD"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]httpcap.Rule{
		"scheme":                  {Scheme: "ftp", Host: "h"},
		"host \"\"":               {},
		"host \"*\"":              {Host: "*"},
		"host \"*.\"":             {Host: "*."},
		"host \"a*.b\"":           {Host: "a*.b"},
		"host \"https://h\"":      {Host: "https://h"},
		"host \"h:80\"":           {Host: "h:80"},
		"host \"0x7f.1\"":         {Host: "0x7f.1"},
		"no names below":          {Host: "*.192.0.2.1"},
		"method \"get\"":          {Host: "h", Methods: []string{"get"}},
		"method \"TRACE\"":        {Host: "h", Methods: []string{"TRACE"}},
		"must begin with a slash": {Host: "h", Paths: []string{"api"}},
		"no secret has this name": {Host: "h", Secrets: []string{"absent"}},
		"cannot be redacted":      {Host: "h", Secrets: []string{"short"}},
		"printable":               {Host: "h", Secrets: []string{"odd"}},
		"over https only":         {Scheme: "http", Host: "h", Secrets: []string{"good"}},
		"rule 1: path \"a\\x00\"": {Host: "h", Paths: []string{"a\x00"}},
	} {
		_, err := httpcap.Open(httpcap.Config{Rules: []httpcap.Rule{r}, Secrets: store})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q in it", r, err, want)
		}
	}
	if _, err := httpcap.Open(httpcap.Config{Limits: httpcap.Limits{Response: -1}}); err == nil {
		t.Error("a negative limit is accepted")
	}
}

// FuzzRules compares allowed requests with an oracle that reads URLs independently: the request goes to a host, port and
// path that the rule names.
func FuzzRules(f *testing.F) {
	for _, seed := range []struct{ host, path, url string }{
		{"example.org", "/api", "https://example.org/api/x"},
		{"*.example.org", "/a/*/c", "https://x.example.org/a/b/c?d"},
		{"bücher.example", "/**/x", "https://BÜCHER.example./a/b/x"},
		{"127.0.0.1", "", "https://[::ffff:127.0.0.1]:443"},
		{"example.org", "/a", "https://example.org/a/%2e%2e/b"},
		{"example.org", "/a*b**", "https://user@example.org/a%2fb"},
		{"::1", "/", "https://[::1]"},
		{"example.org", "/", "https://example.org\\@evil.org/"},
	} {
		f.Add(seed.host, seed.path, seed.url)
	}
	f.Fuzz(func(t *testing.T, host, path, raw string) {
		r := httpcap.Rule{Host: host}
		if path != "" {
			r.Paths = []string{path}
		}
		scheme, gotHost, port, gotPath, ok := httpcap.Allows(&r, "GET", raw)
		if !ok {
			return
		}
		if scheme != "https" || port != 443 {
			t.Errorf("%s allows %q: it goes to %s, port %d", &r, raw, scheme, port)
		}
		if !named(host, gotHost) {
			t.Errorf("%s allows %q, which goes to %q", &r, raw, gotHost)
		}
		if path != "" && !globbed(path, gotPath) {
			t.Errorf("%s allows %q, which asks for %q", &r, raw, gotPath)
		}
		sent := "https://" + bracketed(gotHost) + (&url.URL{Path: gotPath}).EscapedPath()
		u, err := url.Parse(sent)
		if err != nil || u.Path != gotPath || u.Hostname() != gotHost || u.User != nil {
			t.Errorf("%s allows %q, which is sent as %q: %v", &r, raw, sent, err)
		}
		for segment := range strings.SplitSeq(u.EscapedPath()[1:], "/") {
			plain, err := url.PathUnescape(segment)
			if err != nil || plain == ".." || plain == "." || strings.ContainsAny(plain, "/\\\x00") {
				t.Errorf("%s allows %q, with the segment %q", &r, raw, segment)
			}
		}
	})
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// named is the oracle for hosts: they are compared label by label, from the right.
func named(rule, host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		named, err := netip.ParseAddr(strings.Trim(strings.TrimSuffix(strings.ToLower(rule), "."), "[]"))
		return err != nil && !ascii(rule) || named.Unmap() == addr.Unmap()
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; last[0] >= '0' && last[0] <= '9' {
		if _, err := strconv.ParseUint(last, 0, 64); err == nil {
			return false
		}
	}
	if !ascii(rule) {
		return strings.Contains(host, "xn--") || ascii(host) // package idna compares such names
	}
	want := strings.Split(strings.ToLower(strings.TrimSuffix(strings.Trim(rule, "[]"), ".")), ".")
	got := strings.Split(host, ".")
	if want[0] == "*" {
		want = want[1:]
		return len(got) > len(want) && slices.Equal(got[len(got)-len(want):], want)
	}
	return slices.Equal(got, want)
}

func ascii(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 }) }

// globbed is the oracle for paths: it tries all matches.
func globbed(pattern, path string) bool {
	if strings.Contains(pattern, "*") {
		return glob(pattern, path, map[[2]int]bool{})
	}
	pattern = strings.TrimSuffix(pattern, "/")
	return path == pattern || strings.HasPrefix(path, pattern+"/")
}

func glob(pattern, path string, failed map[[2]int]bool) bool {
	at := [2]int{len(pattern), len(path)}
	if failed[at] {
		return false
	}
	ok := false
	switch {
	case pattern == "":
		ok = path == ""
	case strings.HasPrefix(pattern, "**"):
		ok = glob(pattern[2:], path, failed) || path != "" && glob(pattern, path[1:], failed)
	case pattern[0] == '*':
		ok = glob(pattern[1:], path, failed) || path != "" && path[0] != '/' && glob(pattern, path[1:], failed)
	default:
		ok = path != "" && path[0] == pattern[0] && glob(pattern[1:], path[1:], failed)
	}
	failed[at] = !ok
	return ok
}
