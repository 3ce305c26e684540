package project

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// An advice says how to install a tool, for each kind of system. An empty one falls back to anywhere.
type advice struct{ debian, mac, anywhere string }

// forThisOS returns the advice for this system.
func (a advice) forThisOS() string {
	switch {
	case a.debian != "" && runtime.GOOS == "linux" && isDebian(osRelease()):
		return a.debian
	case a.mac != "" && runtime.GOOS == "darwin":
		return a.mac
	}
	return a.anywhere
}

func osRelease() string {
	text, _ := os.ReadFile("/etc/os-release")
	return string(text)
}

// isDebian reports whether an os-release(5) file is of Debian or a derivative.
func isDebian(release string) bool {
	for line := range strings.Lines(release) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			if slices.Contains(strings.Fields(strings.Trim(value, `"'`)), "debian") {
				return true
			}
		}
	}
	return false
}
