package symbol

import (
	"strconv"
	"strings"
)

// readable demangles a name that has nested names only, as those of Rust and many of C++: "_ZN", then each name after its
// length, then "E". Other names stay as they are: demanglers for all names take exponential time on crafted ones.
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

// isHash reports whether a part is the hash that Rust appends to a name.
func isHash(part string) bool {
	return len(part) == 17 && part[0] == 'h' && strings.Trim(part[1:], "0123456789abcdef") == ""
}

// unescape replaces the escapes of Rust for characters that linkers do not accept.
var unescape = strings.NewReplacer(
	"$LT$", "<", "$GT$", ">", "$LP$", "(", "$RP$", ")", "$RF$", "&", "$BP$", "*", "$C$", ",", "$SP$", "@",
	"$u20$", " ", "$u27$", "'", "$u5b$", "[", "$u5d$", "]", "$u7b$", "{", "$u7d$", "}", "$u7e$", "~", "..", "::",
)
