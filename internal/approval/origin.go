package approval

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Origin identifies the file of a provider: it gives its absolute path, with symbolic links resolved.
func Origin(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// isProtected reports whether only this user and the system can replace the file at this path, or a folder above it.
func isProtected(origin string) bool {
	info, err := os.Lstat(origin)
	if err != nil || !notWritableByOthers(info) {
		return false
	}
	for below := origin; ; {
		dir := filepath.Dir(below)
		if dir == below {
			return true
		}
		info, err := os.Lstat(dir)
		if err != nil || !notWritableByOthers(info) && !isSticky(info, below) {
			return false
		}
		below = dir
	}
}

// isSticky reports whether dir is a sticky folder, like /tmp, in which other users cannot replace the folder entry.
func isSticky(dir fs.FileInfo, entry string) bool {
	info, err := os.Lstat(entry)
	return err == nil && info.IsDir() && dir.Mode()&fs.ModeSticky != 0 && ownedByRootOrSelf(dir) && notWritableByOthers(info)
}
