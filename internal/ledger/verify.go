package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Report says what [Verify] has found in a whole ledger.
type Report struct {
	Entries     uint64
	First, Last time.Time // of its entries
	Head        Hash      // of the newest entry; zero for none
	Signed      uint64    // number of the newest entry that a head signs; zero for none
	Keys        []string  // that have signed heads
	Unended     int64     // bytes of a last line that was never ended, nor acknowledged
}

// Expect is what [Verify] is to hold a ledger to, beside itself. The zero value is nothing.
type Expect struct {
	Heads []Hash // hashes of entries that the ledger must have, as from the log of the server
	Key   string // that must have signed all heads; empty for any
}

// Verify reads the ledger of a folder, which a server may be writing, and checks that each entry follows on the one before it
// and that the signed heads fit. It needs little memory. A ledger that is not whole is a [DamageError], of the first line that
// does not fit.
func Verify(ctx context.Context, dir string, expect Expect) (*Report, error) {
	h, closeHeads, err := openHeadsOf(dir) // before the entries, which may become more meanwhile
	if err != nil {
		return nil, err
	}
	defer closeHeads()
	v := &verifier{ctx: ctx, heads: h, expect: expect, wanted: slices.Clone(expect.Heads)}
	if err := v.nextHead(); err != nil {
		return nil, err
	}
	unended, err := scan(dir, v.check)
	if err != nil {
		return nil, err
	}
	v.report.Unended = unended
	end := position{v.report.Entries, v.report.Head}
	if v.head != nil {
		return nil, &DamageError{File: h.file, Line: h.line, Seq: v.head.Seq, What: cutMessage(end, *v.head)}
	}
	if len(v.wanted) > 0 {
		return nil, &DamageError{File: dir, What: fmt.Sprintf("no entry has the hash %s: the ledger was cut off or replaced", v.wanted[0])}
	}
	if h.isMissing && end.seq > 0 {
		return nil, &DamageError{File: h.file, What: "the signed heads are missing"}
	}
	return &v.report, nil
}

// A verifier checks entries as they are read.
type verifier struct {
	ctx    context.Context
	heads  *headsOf
	head   *Head // the next one; nil after the last
	expect Expect
	wanted []Hash
	report Report
}

func (v *verifier) check(l *Line) error {
	if err := v.ctx.Err(); err != nil {
		return err
	}
	r := &v.report
	r.Entries, r.Last, r.Head = l.Seq, l.Time, l.Hash
	if l.Seq == 1 {
		r.First = l.Time
	}
	v.wanted = slices.DeleteFunc(v.wanted, func(h Hash) bool { return h == l.Hash })
	for v.head != nil && v.head.Seq <= l.Seq {
		if v.head.Seq < l.Seq || v.head.Hash != l.Hash {
			return &DamageError{What: fmt.Sprintf("the server has signed another entry %d (%s:%d)", v.head.Seq, v.heads.file, v.heads.line)}
		}
		r.Signed = l.Seq
		if err := v.nextHead(); err != nil {
			return err
		}
	}
	return nil
}

// nextHead reads the next head.
func (v *verifier) nextHead() error {
	v.head = nil
	head, err := v.heads.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if v.expect.Key != "" && head.Key != v.expect.Key {
		return &DamageError{File: v.heads.file, Line: v.heads.line, What: fmt.Sprintf("another key has signed it: %s", head.Key)}
	}
	if !slices.Contains(v.report.Keys, head.Key) {
		if len(v.report.Keys) == maxKeys {
			return &DamageError{File: v.heads.file, Line: v.heads.line, What: fmt.Sprintf("more than %d keys have signed heads", maxKeys)}
		}
		v.report.Keys = append(v.report.Keys, head.Key)
	}
	v.head = &head
	return nil
}

// maxKeys bounds the keys that may have signed the heads of one ledger.
const maxKeys = 100

// headsOf are the heads of a folder that may have none.
type headsOf struct {
	heads
	isMissing bool
}

// openHeadsOf opens the heads that there are now.
func openHeadsOf(dir string) (*headsOf, func(), error) {
	path := filepath.Join(dir, headFile)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, nil, err
		}
		return &headsOf{heads{file: path, in: bufio.NewReader(eof{})}, true}, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	in := bufio.NewReaderSize(io.LimitReader(f, info.Size()), maxHead)
	return &headsOf{heads{file: path, of: f, in: in}, false}, func() { _ = f.Close() }, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Read gives each entry of a ledger, which a server may be writing, to do, in order, after it has checked that the entry follows
// on the one before it. It ends with the first error of do.
func Read(dir string, do func(*Line) error) error {
	_, err := scan(dir, do)
	return err
}

// scan reads all entries. It returns the bytes of a last line that was never ended.
func scan(dir string, do func(*Line) error) (unended int64, err error) {
	all, err := segments(dir)
	if err != nil {
		return 0, err
	}
	var at position
	for i := range all {
		s := &all[i]
		read := s.read
		if i == len(all)-1 {
			read = s.readNewest
		}
		if _, unended, err = read(&at, func(text []byte) error {
			line, err := parseLine(text)
			if err != nil {
				return &DamageError{What: err.Error()}
			}
			return do(line)
		}); err != nil {
			return 0, err
		}
		if i < len(all)-1 && unended > 0 {
			return 0, &DamageError{File: s.path, Seq: at.seq + 1, What: "the file ends within a line"}
		}
	}
	return unended, nil
}

// startOf returns the position before the first entry of a file, as that entry has it.
func startOf(s segment) (position, error) {
	at := position{seq: s.first - 1}
	f, err := os.Open(s.path)
	if err != nil {
		return at, err
	}
	defer f.Close()
	text, err := bufio.NewReaderSize(f, maxLine).ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return at, nil
	}
	if err == nil {
		at.hash, _, err = checkHash(text[:len(text)-1])
	}
	if err != nil {
		if torn, readErr := s.tornTail(0, s.first); readErr != nil || torn > 0 {
			return position{seq: s.first - 1}, readErr
		}
		return at, &DamageError{File: s.path, Line: 1, Seq: s.first, What: err.Error()}
	}
	if s.first == 1 && at.hash != (Hash{}) {
		return at, &DamageError{File: s.path, Line: 1, Seq: 1, What: "the first entry does not begin a ledger"}
	}
	return at, nil
}
