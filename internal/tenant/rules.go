package tenant

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/runtime/auth"
)

// format has the rules of the scalars in serve.yaml and the files of tenants, those of policies among them.
var format = strict.Format{Rules: rules()}

func rules() map[string]strict.Rule {
	r := policy.Rules()
	maps.Copy(r, map[string]strict.Rule{
		"action":      strict.OneOf("action", actions...),
		"admin role":  strict.OneOf("role", AdminRoles...),
		"collector":   strict.TextRule(collector.EndpointURL, strict.Schema{"examples": []string{"http://127.0.0.1:4318"}}),
		"share":       strict.TextRule(share, strict.Schema{"examples": []string{"10%"}}),
		"tenant":      strict.TextRule(tenantID, strict.Schema{"examples": []string{"acme"}}),
		"address":     strict.TextRule(listenAddress, strict.Schema{"examples": []string{"127.0.0.1:8080", ":8443"}}),
		"byte rate":   strict.NewRule(byteRate, formatByteRate, strict.Schema{"type": "string", "examples": []string{"5Mi/s"}}),
		"digest":      strict.TextRule(digest, strict.Schema{"pattern": digestPattern.String()}),
		"email":       strict.TextRule(email, strict.Schema{"examples": []string{"ops@example.com"}}),
		"HTTPS URL":   strict.TextRule(httpsURL, strict.Schema{"examples": []string{"https://ca.example.com/acme/directory"}}),
		"host name":   strict.TextRule(hostName, strict.Schema{"examples": []string{"acme.example.com"}}),
		"log format":  strict.OneOf("format", "text", "json"),
		"module":      strict.TextRule(moduleName, strict.Schema{"examples": []string{"../modules/notes.wasm", "ghcr.io/ada/notes:1.0.0"}}),
		"network":     strict.TextRule(network, strict.Schema{"examples": []string{"10.0.0.0/8", "192.0.2.7"}}),
		"number":      strict.NewRule(number, strconv.Itoa, strict.Schema{"type": "integer", "minimum": 1, "maximum": maxNumber}, strict.Number),
		"object name": strict.TextRule(objectName, strict.Schema{"pattern": namePattern.String()}),
		"origin":      strict.TextRule(origin, strict.Schema{"examples": []string{"https://app.example.com"}}),
		"public URL":  strict.TextRule(publicURL, strict.Schema{"examples": []string{"https://mcp.example.com"}}),
		"rate":        strict.NewRule(rate, formatRate, strict.Schema{"type": "string", "examples": []string{"50/s", "100/m", "1000/h"}}),
		"registry": strict.TextRule(func(s string) (string, error) { return s, registry.CheckHost(s) },
			strict.Schema{"examples": []string{"registry.internal:5000"}}),
		"registry or network": strict.TextRule(func(s string) (string, error) { return s, registry.CheckReach(s) },
			strict.Schema{"examples": []string{"registry.internal:5000", "10.0.0.0/8"}}),
		"scope":       strict.TextRule(scope, strict.Schema{"examples": []string{"notes:read"}}),
		"URI pattern": strict.TextRule(uriPattern, strict.Schema{"examples": []string{"notes://drafts/**"}}),
		"URI prefix":  strict.TextRule(uriPrefix, strict.Schema{"examples": []string{"notes:"}}),
	})
	return r
}

// MaxID is the longest ID of a tenant, in bytes.
const MaxID = 63

// IsID reports whether s may be the ID of a tenant: lower-case letters, digits and, but for both ends, dashes.
func IsID(s string) bool {
	if s == "" || len(s) > MaxID || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func share(s string) (string, error) {
	_, err := collector.ParseShare(s)
	return s, err
}

func tenantID(s string) (string, error) {
	if !IsID(s) {
		return "", fmt.Errorf("%q is not the ID of a tenant: an ID has lower-case letters, digits and dashes, at most %d", strict.Clip(s), MaxID)
	}
	return s, nil
}

var (
	namePattern   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	digestPattern = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	labelPattern  = lazyregexp.New(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
)

// objectName returns s if it may name a provider, a role or a plan.
func objectName(s string) (string, error) {
	if !namePattern.MatchString(s) {
		return "", fmt.Errorf(`%q is not a name: a name begins with a letter or digit, and has letters, digits, "_", "-" and ".", at most 64`,
			strict.Clip(s))
	}
	return s, nil
}

// moduleName returns s if it is the path of a module or a reference.
func moduleName(s string) (string, error) {
	if registry.LooksLikeReference(s) {
		_, err := registry.ParseReference(s)
		return s, err
	}
	return policy.HostPath(s)
}

func digest(s string) (string, error) {
	if !digestPattern.MatchString(s) {
		return "", fmt.Errorf("%q is not a digest: write sha256: and 64 hexadecimal digits in lower case", strict.Clip(s))
	}
	return s, nil
}

// email returns s if it looks like an address of one person.
func email(s string) (string, error) {
	user, host, found := strings.Cut(s, "@")
	if _, err := hostName(host); err != nil || !found || user == "" || strings.ContainsFunc(user, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("\"<>,:;?&%@", c) }) || len(s) > 254 {
		return "", fmt.Errorf("%q is not an address: write it like ops@example.com", strict.Clip(s))
	}
	return s, nil
}

// httpsURL returns s if it is a URL of HTTPS without a user and a fragment.
func httpsURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(s) > 2000 {
		return "", fmt.Errorf("%q is not a URL of HTTPS: write it like https://ca.example.com/acme/directory", strict.Clip(s))
	}
	return s, nil
}

// hostName returns a DNS name in lower case.
func hostName(s string) (string, error) {
	lower := strings.ToLower(strings.TrimSuffix(s, "."))
	if strings.Contains(s, "*") {
		return "", fmt.Errorf("%q has a star: name each host", strict.Clip(s))
	}
	if bare, _, found := strings.Cut(lower, ":"); found {
		return "", fmt.Errorf("%q is more than a host: write %s, without a scheme and a port", strict.Clip(s), strict.Clip(bare))
	}
	labels := strings.Split(lower, ".")
	for _, label := range labels {
		if !labelPattern.MatchString(label) || len(lower) > 253 {
			return "", fmt.Errorf("%q is not the name of a host: write it like acme.example.com, and names beyond ASCII as xn--…", strict.Clip(s))
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", fmt.Errorf("%q is an address: a host is a name, like acme.example.com", strict.Clip(s))
	}
	return lower, nil
}

// ParseNetwork reads a network, or an address, which is one of its own.
func ParseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	return p.Masked(), err
}

// network returns a network, of which not all addresses are.
func network(s string) (string, error) {
	p, err := ParseNetwork(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a network: write it like 10.0.0.0/8 or 192.0.2.7", strict.Clip(s))
	case p.Bits() == 0:
		return "", fmt.Errorf("%q has all addresses, so that every client could choose its own: name the networks of the proxies", strict.Clip(s))
	}
	return p.String(), nil
}

// listenAddress returns s if it is a host, or nothing, and a port.
func listenAddress(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q is not an address to listen on: write it like 127.0.0.1:8080, or :8080 for all networks", strict.Clip(s))
	}
	if _, err := policy.Line(host); host != "" && err != nil {
		return "", err
	}
	return s, nil
}

// IsLoopback reports whether only this machine reaches the address of l.
func (l *Listener) IsLoopback() bool {
	host, _, err := net.SplitHostPort(l.Address)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// publicURL returns s without a slash at its end.
func publicURL(s string) (string, error) {
	s = strings.TrimSuffix(s, "/")
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || s != u.Scheme+"://"+u.Host {
		return "", fmt.Errorf("%q is not the URL of a server: write it like https://mcp.example.com, without a path", strict.Clip(s))
	}
	return policy.Line(strings.ToLower(s))
}

// origin returns s if it is a scheme and a host without anything else.
func origin(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" || (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() != s {
		return "", fmt.Errorf("%q is not an origin: write it like https://app.example.com, without a path", strict.Clip(s))
	}
	return policy.Line(s)
}

func uriPattern(s string) (string, error) { return s, auth.CheckPattern(s) }

// uriPrefix returns s if URIs may begin with it.
func uriPrefix(s string) (string, error) {
	scheme, _, found := strings.Cut(s, ":")
	if u, err := url.Parse(scheme + ":"); !found || err != nil || u.Scheme == "" || len(s) > abi.MaxURI {
		return "", fmt.Errorf("%q is not the beginning of a URI: write it like notes: or file:///docs/", strict.Clip(s))
	}
	return policy.Line(s)
}

const maxNumber = 1_000_000_000

func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxNumber {
		return 0, fmt.Errorf("%q is not a whole number from 1 to %d", strict.Clip(s), maxNumber)
	}
	return n, nil
}

// units of rates, in seconds.
var units = map[string]float64{"s": 1, "m": 60, "h": 3600}

// rate reads how often a second something may be.
func rate(s string) (float64, error) {
	text, unit, _ := strings.Cut(s, "/")
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 || units[unit] == 0 {
		return 0, fmt.Errorf("%q is not a rate: write it like 50/s, 100/m or 1000/h", strict.Clip(s))
	}
	return float64(n) / units[unit], nil
}

// formatRate writes a rate by the shortest unit in which it is a whole number.
func formatRate(perSecond float64) string {
	for _, unit := range []string{"s", "m", "h"} {
		n := perSecond * units[unit]
		if whole := float64(int64(n + 0.5)); whole >= 1 && whole/units[unit] == perSecond {
			return strict.Quote(strconv.FormatInt(int64(whole), 10) + "/" + unit)
		}
	}
	return strict.Quote(strconv.FormatInt(max(1, int64(perSecond*units["h"])), 10) + "/h")
}

// byteRate reads a size by the second.
func byteRate(s string) (int64, error) {
	text, found := strings.CutSuffix(s, "/s")
	n, err := policy.Size(text)
	if !found || err != nil {
		return 0, fmt.Errorf("%q is not a rate of bytes: write it like 5Mi/s", strict.Clip(s))
	}
	return int64(n), nil
}

func formatByteRate(n int64) string { return strict.Quote(policy.FormatSize(uint64(n)) + "/s") }
