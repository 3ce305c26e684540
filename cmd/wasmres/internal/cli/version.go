package cli

import (
	"cmp"
	"runtime/debug"
)

// What the builder of a release sets with -ldflags=-X; empty in other builds.
var (
	version string
	commit  string
)

// Version returns the version of the program: that of the release, or the one that Go's build information has.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "(devel)")
	}
	return cmp.Or(version, info.Main.Version, "(devel)")
}

// Commit returns the commit that the program was built from, and whether its files had other changes; empty if unknown.
func Commit() (id string, modified bool) {
	id = commit
	info, ok := debug.ReadBuildInfo()
	if !ok || id != "" {
		return id, false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			id = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return id, modified
}
