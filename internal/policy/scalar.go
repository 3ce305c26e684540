package policy

import (
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/strict"
)

const maxLine = 4 << 10 // bytes of a path, a value or a description

// Line returns s if it is a text on one line without invisible characters.
func Line(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("the text is empty")
	case len(s) > maxLine:
		return "", fmt.Errorf("the text has %d bytes, at most %d are allowed", len(s), maxLine)
	case strings.ContainsFunc(s, invisible):
		return "", errors.New("the text has a control character or an invisible one")
	}
	return s, nil
}

// invisible reports whether a person cannot see r, or sees other text in another order because of it.
func invisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// prose returns s if it is a text of one or more lines.
func prose(s string) (string, error) {
	flat, err := Line(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
	if err != nil || flat == "" {
		return "", err
	}
	return s, nil
}

// value returns s if it is short enough for a configuration value. It may be empty.
func value(s string) (string, error) {
	if len(s) > maxLine {
		return "", fmt.Errorf("the value has %d bytes, at most %d are allowed", len(s), maxLine)
	}
	return s, nil
}

// version returns s if it is the version of the format.
func version(s string) (string, error) {
	if s != Version {
		return "", fmt.Errorf("the version is %q, expected %q", strict.Clip(s), Version)
	}
	return s, nil
}

var (
	namePattern     = lazyregexp.New(`^[A-Za-z0-9_.-]{1,64}$`)
	variablePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)
	labelPattern    = lazyregexp.New(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`) // of a domain name
)

// name returns s if it is a name for a secret, a connection or a namespace.
func name(s string) (string, error) {
	if !namePattern.MatchString(s) {
		return "", fmt.Errorf(`%q is not a name: a name has letters, digits, "_", "-" and ".", at most 64`, strict.Clip(s))
	}
	return s, checkPlaceholder(s, PlaceholderName)
}

// variable returns s if it is the name of an environment variable.
func variable(s string) (string, error) {
	if !variablePattern.MatchString(s) {
		return "", fmt.Errorf("%q is not the name of an environment variable: it has letters, digits and \"_\"", strict.Clip(s))
	}
	return s, checkPlaceholder(s, PlaceholderVariable)
}

// HostPath returns s if it is a path of the host.
func HostPath(s string) (string, error) {
	if s == "~" || strings.HasPrefix(s, "~/") {
		return "", fmt.Errorf("%q: ~ is not expanded: write the whole path", strict.Clip(s))
	}
	return Line(s)
}

// keyring returns s if it names an entry of a keyring.
func keyring(s string) (string, error) {
	service, user, ok := strings.Cut(s, "/")
	if !ok || service == "" || user == "" {
		return "", fmt.Errorf("%q is not an entry of a keyring: write it as SERVICE/USER", strict.Clip(s))
	}
	return Line(s)
}

// guestPath returns s if it is a path as guests see it.
func guestPath(s string) (string, error) {
	if !path.IsAbs(s) || path.Clean(s) != s {
		return "", fmt.Errorf("%q is not an absolute clean path: write it like /data", strict.Clip(s))
	}
	if strings.Contains(s, ":") { // flags use it as a separator
		return "", fmt.Errorf("%q has a colon, which guest paths cannot have", strict.Clip(s))
	}
	if err := checkPlaceholder(s, PlaceholderPath); err != nil {
		return "", err
	}
	return Line(s)
}

const storageScheme = "fs://"

// storageURI returns the folder of a URI, which may end in /**.
func storageURI(s string) (string, error) {
	folder, ok := strings.CutPrefix(s, storageScheme)
	if !ok {
		return "", fmt.Errorf("%q is not the URI of a folder: write it like fs:///srv/data/**", strict.Clip(s))
	}
	folder = strings.TrimSuffix(strings.TrimSuffix(folder, "**"), "/")
	if folder == "" && strings.HasPrefix(s, storageScheme+"/") {
		folder = "/"
	}
	if folder == "" {
		return "", fmt.Errorf("%q names no folder: write it like fs:///srv/data/**, or fs://./** for the folder of this file",
			strict.Clip(s))
	}
	if strings.ContainsAny(folder, "*?[{") {
		return "", fmt.Errorf("%q is a pattern: name a whole folder, as in fs:///srv/data/**", strict.Clip(s))
	}
	if err := checkPlaceholder(folder, PlaceholderFolder); err != nil {
		return "", err
	}
	return HostPath(path.Clean(folder))
}

func formatStorageURI(folder string) string {
	switch folder {
	case "": // open: it must not become the root
		return `""`
	case "/":
		return strict.Quote("fs:///**")
	}
	return strict.Quote(storageScheme + folder + "/**")
}

// guestOf returns the default guest path of a host folder.
func guestOf(host string) string { return path.Clean("/" + host) }

// host returns a name, "*." and a name, or an address, in lower case.
func host(s string) (string, error) {
	if err := checkPlaceholder(s, PlaceholderHost); err != nil {
		return "", err
	}
	if s == "*" {
		return "", errors.New("* is not a host: write api.example.org, or *.example.org for all names below it")
	}
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		return "", fmt.Errorf("%q is a URL: write host: %s and schemes: [%s]", strict.Clip(s), strict.Clip(rest), strict.Clip(scheme))
	}
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), nil
	}
	if bare, port, ok := strings.Cut(s, ":"); ok && !strings.Contains(port, ":") {
		return "", fmt.Errorf("%q has a port: write host: %s and ports: [%s]", strict.Clip(s), strict.Clip(bare), strict.Clip(port))
	}
	if bare, rest, ok := strings.Cut(s, "/"); ok {
		return "", fmt.Errorf("%q has a path: write host: %s and paths: [\"/%s\"]", strict.Clip(s), strict.Clip(bare), strict.Clip(rest))
	}
	lower := strings.ToLower(strings.TrimSuffix(s, "."))
	if !domain(strings.TrimPrefix(lower, "*.")) {
		return "", fmt.Errorf("%q is not a host: write a name like api.example.org, *.example.org for all names below it, "+
			"or an address; names beyond ASCII as xn--…", strict.Clip(s))
	}
	return lower, nil
}

// domain reports whether s is a domain name, and no program takes it for an address.
func domain(s string) bool {
	last := ""
	for last = range strings.SplitSeq(s, ".") {
		if !labelPattern.MatchString(last) {
			return false
		}
	}
	return len(s) <= 253 && (last[0] < '0' || last[0] > '9') // some programs read 127.1 and 0x7f.1 as addresses
}

// pathPattern returns s if it is a pattern of URL paths.
func pathPattern(s string) (string, error) {
	const form = `write it like /v1/users, which includes all paths below it, or /v1/*/profile`
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%q does not begin with a slash: %s", strict.Clip(s), form)
	}
	if strings.ContainsAny(s, `?#[]{}\ `) {
		return "", fmt.Errorf("%q has a character that path patterns cannot have: %s", strict.Clip(s), form)
	}
	segments := strings.Split(s[1:], "/")
	for i, segment := range segments {
		switch {
		case segment == "." || segment == "..":
			return "", fmt.Errorf("%q has dot segments: %s", strict.Clip(s), form)
		case segment == "" && i < len(segments)-1:
			return "", fmt.Errorf("%q has an empty segment: %s", strict.Clip(s), form)
		case strings.Contains(segment, "**") && (segment != "**" || i < len(segments)-1):
			return "", fmt.Errorf("%q has ** before its end: %s", strict.Clip(s), form)
		}
	}
	return Line(s)
}

func port(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a port: write a number from 1 to 65535", strict.Clip(s))
	}
	return uint16(n), nil
}

func formatPort(p uint16) string { return strconv.Itoa(int(p)) }

// units of sizes: those of Kubernetes, and those of the command line.
var units = []struct {
	suffix string
	bytes  uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"B", 1}, {"", 1},
}

// Size reads a positive number of bytes, as "64Mi", at most 1 TiB.
func Size(s string) (uint64, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if over, product := bits.Mul64(n, u.bytes); err == nil && n > 0 && over == 0 && product <= 1<<40 {
			return product, nil
		}
		break
	}
	return 0, fmt.Errorf("%q is not a size: write it like 64Mi, 512Ki or 2Gi", strict.Clip(s))
}

// FormatSize returns the shortest exact form of a number of bytes.
func FormatSize(n uint64) string {
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"Gi", 30}, {"Mi", 20}, {"Ki", 10}} {
		if n%(1<<u.shift) == 0 {
			return strconv.FormatUint(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatUint(n, 10)
}

// Processors reads a number of processors, as "500m" or "1.5", from a thousandth to a thousand. It gives thousandths.
func Processors(s string) (uint32, error) {
	wrong := fmt.Errorf("%q is not a number of processors: write it like 500m or 2", strict.Clip(s))
	if milli, ok := strings.CutSuffix(s, "m"); ok {
		n, err := strconv.ParseUint(milli, 10, 32)
		if err != nil || n == 0 || n > 1_000_000 {
			return 0, wrong
		}
		return uint32(n), nil
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > 3 {
		return 0, wrong
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", 3-len(fraction)), 10, 32)
	if err != nil || n == 0 || n > 1_000_000 {
		return 0, wrong
	}
	return uint32(n), nil
}

func formatProcessors(n uint32) string {
	if n%1000 == 0 {
		return strconv.FormatUint(uint64(n/1000), 10)
	}
	return strconv.FormatUint(uint64(n), 10) + "m"
}

// count returns a positive number.
func count(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > 1<<62 {
		return 0, fmt.Errorf("%q is not a positive whole number", strict.Clip(s))
	}
	return n, nil
}

func formatCount(n uint64) string { return strconv.FormatUint(n, 10) }

// duration returns a positive time of at most a year.
func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 366*24*time.Hour {
		return 0, fmt.Errorf("%q is not a duration: write it like 2s or 500ms", strict.Clip(s))
	}
	return d, nil
}

// shortDuration formats d without zeros at its end: 2h, not 2h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
