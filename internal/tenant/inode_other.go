//go:build !unix

package tenant

import "io/fs"

// inode returns 0: there are no numbers of files.
func inode(fs.FileInfo) uint64 { return 0 }
