package approval

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	scratchSuffix = ".tmp"    // of a file while its record is being written
	scratchAge    = time.Hour // after which its writer has ended
)

// digestOf returns the digest in the name of a record's file.
func digestOf(name string) (digest string, ok bool) {
	hex, ok := strings.CutSuffix(name, suffix)
	return digestPrefix + hex, ok && CheckDigest(digestPrefix+hex) == nil
}

// names returns the sorted names of the files of records. It removes the scratch files of writers that have died.
func (s *Store) names(root *os.Root) (names []string, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("approvals: %w", err)
	}
	defer dir.Close()
	for {
		some, err := dir.Readdirnames(1000)
		for _, name := range some {
			if _, ok := digestOf(name); ok {
				names = append(names, name)
			}
			if isScratch(name) {
				removeOld(root, name)
			}
		}
		if len(names) > maxRecords {
			return nil, fmt.Errorf("approvals: %s has more than %d records: remove those that you do not need", s.dir, maxRecords)
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("approvals: %w", err)
		}
	}
}

// isScratch reports whether [replace] makes files of this name.
func isScratch(name string) bool {
	hex, rest, ok := strings.Cut(name, suffix+".")
	return ok && CheckDigest(digestPrefix+hex) == nil && strings.Count(rest, ".") == 2 && strings.HasSuffix(rest, scratchSuffix)
}

// removeOld removes a scratch file whose age shows that its writer has died. A file that it cannot remove is harmless.
func removeOld(root *os.Root, name string) {
	info, err := root.Lstat(name)
	if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= scratchAge {
		_ = root.Remove(name)
	}
}
