package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MaxFile is the most bytes of one file of a ledger, but for the entries of one Append that is larger.
const MaxFile = 64 << 20

const (
	suffix   = ".jsonl"
	headFile = "heads" + suffix
	lockFile = "lock"
)

// A DamageError says that a ledger is not as a server wrote it.
type DamageError struct {
	File string
	Line int    // from 1; zero for the file as a whole
	Seq  uint64 // of the entry that should be there; zero if unknown
	What string
}

// Error implements error.
func (e *DamageError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	if e.Seq > 0 {
		place += fmt.Sprintf(": entry %d", e.Seq)
	}
	return place + ": " + e.What
}

// A segment is one file of entries.
type segment struct {
	path  string
	first uint64 // number of its first entry
}

func segmentName(first uint64) string { return fmt.Sprintf("%016d%s", first, suffix) }

// segments lists the files of a ledger in their order.
func segments(dir string) (all []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		digits, ok := strings.CutSuffix(f.Name(), suffix)
		first, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil || first == 0 || f.Name() != segmentName(first) {
			continue
		}
		if !f.Type().IsRegular() {
			return nil, &DamageError{File: filepath.Join(dir, f.Name()), What: "it is not a regular file"}
		}
		all = append(all, segment{filepath.Join(dir, f.Name()), first})
	}
	slices.SortFunc(all, func(a, b segment) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// A position is where reading a ledger has come.
type position struct {
	seq  uint64 // of the newest entry; zero for none
	hash Hash   // of it
}

// read reads the entries of a file, gives the text of each to do, and checks that they follow on at. It returns how many bytes
// the whole lines have, and how many a line has that follows them and was never ended.
func (s *segment) read(at *position, do func(text []byte) error) (size, unended int64, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	if s.first != at.seq+1 {
		return 0, 0, &DamageError{File: s.path, Seq: at.seq + 1, What: fmt.Sprintf("the entries %d to %d before this file are missing", at.seq+1, s.first-1)}
	}
	r := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return size, int64(len(text)), nil
		}
		wrong := func(format string, args ...any) error {
			return &DamageError{File: s.path, Line: n, Seq: at.seq + 1, What: fmt.Sprintf(format, args...)}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return size, 0, wrong("it is longer than %d bytes", maxLine)
		}
		if err != nil {
			return size, 0, err
		}
		length := int64(len(text))
		text = text[:len(text)-1]
		prev, hash, err := checkHash(text)
		if err != nil {
			return size, 0, wrong("%v", err)
		}
		if prev != at.hash {
			return size, 0, wrong("it does not follow on the entry before it: entries were removed, moved or put in")
		}
		if want := fmt.Sprintf(`{"seq":%d,`, at.seq+1); !strings.HasPrefix(string(text[:min(len(text), len(want))]), want) {
			return size, 0, wrong("it has another number")
		}
		at.seq, at.hash = at.seq+1, hash
		size += length
		if do == nil {
			continue
		}
		if err := do(text); err != nil {
			var damage *DamageError
			if errors.As(err, &damage) && damage.File == "" {
				damage.File, damage.Line, damage.Seq = s.path, n, at.seq
			}
			return size, 0, err
		}
	}
}

// makePrivate makes a folder that only this user can read, or checks that an existing one is.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkPrivate(dir)
}

// checkPrivate checks that only this user has access to a file or folder.
func checkPrivate(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users may have access to %s: run chmod go= on it", name)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
