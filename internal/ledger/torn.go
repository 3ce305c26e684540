package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
)

// A power cut leaves of what was written, and not yet on disk when it came, any part: a file may be shorter, and any sector in it may
// be as it was before, which behind the old end is zero. An entry or head has no zero byte. So what a power cut leaves of a line
// differs from a line that was changed. Only the lines of one write can be concerned, since each write waits until the one before
// is on disk.
const (
	sector  = 512
	maxTorn = 32 << 20 // bytes of one write
)

// isTorn reports whether what a file has behind its first bytes is what a power cut may leave of one write. isLater says of a line,
// without its end, whether it is of a later write than the first line that is missing; its error says why it is not a line.
func isTorn(f *os.File, from int64, isLater func(line []byte) (bool, error)) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size()-from > maxTorn {
		return false, nil
	}
	tail := make([]byte, max(info.Size()-from, 0))
	if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if bytes.IndexByte(tail, 0) < 0 || !isOfSectors(tail, from) {
		return false, nil
	}
	for line := range bytes.Lines(tail) {
		text, isWhole := bytes.CutSuffix(line, []byte("\n"))
		if !isWhole || bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		if later, err := isLater(text); later || err != nil {
			return false, nil // the missing line was on disk before, or this one was changed
		}
	}
	return true, nil
}

// isOfSectors reports whether the zero bytes of a tail, which begins at an offset of its file, are those of whole sectors.
func isOfSectors(tail []byte, from int64) bool {
	for at := 0; at < len(tail); at++ {
		if tail[at] != 0 {
			continue
		}
		begin := at
		for at < len(tail) && tail[at] == 0 {
			at++
		}
		if begin > 0 && (from+int64(begin))%sector != 0 || at < len(tail) && (from+int64(at))%sector != 0 {
			return false
		}
	}
	return true
}

// isLaterThan returns what says whether an entry was written after the one with a number.
func isLaterThan(seq uint64) func(text []byte) (bool, error) {
	return func(text []byte) (bool, error) {
		l, err := parseLine(text)
		return err == nil && cmp.Or(l.Batch, l.Seq) > seq, err
	}
}

// isLaterHead says that a head was written after any other: each is a write of its own.
func isLaterHead([]byte) (bool, error) { return true, nil }

// tornTail returns how many bytes the newest file of entries has behind its first ones, where the entry with a number should be, if a
// power cut may have left them; zero for not.
func (s *segment) tornTail(from int64, seq uint64) (int64, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	torn, err := isTorn(f, from, isLaterThan(seq))
	if err != nil || !torn {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size() - from, nil
}

// readNewest reads as read does, and takes what a power cut may have left at the end for a line that was never ended.
func (s *segment) readNewest(at *position, do func(text []byte) error) (size, unended int64, err error) {
	size, unended, err = s.read(at, do)
	var damage *DamageError
	if err == nil || !errors.As(err, &damage) || damage.Line == 0 {
		return size, unended, err
	}
	torn, readErr := s.tornTail(size, at.seq+1)
	if readErr != nil || torn == 0 {
		return size, unended, errors.Join(err, readErr)
	}
	return size, torn, nil
}
