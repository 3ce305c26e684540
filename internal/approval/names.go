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
	scratchSuffix = ".tmp"    // of a file while a record is written to it
	scratchAge    = time.Hour // after which its writer cannot be alive
)

// digestOf gives the digest that the file of a record is about, by its name.
func digestOf(name string) (digest string, ok bool) {
	hex, ok := strings.CutSuffix(name, suffix)
	return digestPrefix + hex, ok && CheckDigest(digestPrefix+hex) == nil
}

// names gives the names of the files of records, in order. It removes what writers left that died while they wrote.
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

// isScratch reports whether a file is one that [replace] makes, by its name.
func isScratch(name string) bool {
	hex, rest, ok := strings.Cut(name, suffix+".")
	return ok && CheckDigest(digestPrefix+hex) == nil && strings.Count(rest, ".") == 2 && strings.HasSuffix(rest, scratchSuffix)
}

// removeOld removes a file that its writer left, by its age. One that cannot be removed stays, and does no harm.
func removeOld(root *os.Root, name string) {
	info, err := root.Lstat(name)
	if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= scratchAge {
		_ = root.Remove(name)
	}
}
