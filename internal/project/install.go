package project

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// An advice says how to install something, by kind of system. Empty ones fall back to anywhere.
type advice struct{ debian, mac, anywhere string }

// here gives the advice for this system.
func (a advice) here() string {
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

// isDebian reports whether os-release(5) speaks of Debian, or of something made from it.
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
