package approval

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Origin gives what identifies the file of a provider: its absolute path, links resolved.
func Origin(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// undisturbed reports whether nobody but this user and the system could have put a file at this path, by any of the
// folders it is in.
func undisturbed(origin string) bool {
	info, err := os.Lstat(origin)
	if err != nil || !guarded(info) {
		return false
	}
	for below := origin; ; {
		dir := filepath.Dir(below)
		if dir == below {
			return true
		}
		info, err := os.Lstat(dir)
		if err != nil || !guarded(info) && !shelters(info, below) {
			return false
		}
		below = dir
	}
}

// shelters reports whether a folder everybody writes to, like /tmp, lets nobody else move what is ours in it.
func shelters(dir fs.FileInfo, entry string) bool {
	info, err := os.Lstat(entry)
	return err == nil && info.IsDir() && dir.Mode()&fs.ModeSticky != 0 && rooted(dir) && guarded(info)
}
