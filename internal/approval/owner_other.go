//go:build !unix

package approval

import "io/fs"

const nonblock = 0

// checkPrivate always accepts a file: on these systems, the folder of the user is private by its place.
func checkPrivate(fs.FileInfo) error { return nil }

// notWritableByOthers reports false, so that no version inherits from another.
func notWritableByOthers(fs.FileInfo) bool { return false }

func ownedByRootOrSelf(fs.FileInfo) bool { return false }
