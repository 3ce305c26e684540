package ledger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxFound is the most entries that one Select returns.
	MaxFound = 200
	maxScan  = 50_000 // lines that one Select looks at
)

// A Query says which entries to read. The zero value is the first MaxFound.
type Query struct {
	Tenant   string    // empty for all
	Actor    string    // empty for all
	Action   string    // empty for all; one that ends with "." is all that begin with it
	From, To time.Time // from From on, before To; a zero time is no bound
	Newest   bool      // the newest first
	After    uint64    // entries behind the one with this number, in the order of the query; zero for the first
	Limit    int       // the most entries; zero and more than MaxFound are MaxFound

	last uint64 // number of the newest entry to read; zero for any
}

// Fits reports whether a query finds an entry, whatever its After and Limit.
func (q *Query) Fits(l *Line) bool {
	isAction := q.Action == "" || l.Action == q.Action || strings.HasSuffix(q.Action, ".") && strings.HasPrefix(l.Action, q.Action)
	return isAction && (q.Tenant == "" || l.Tenant == q.Tenant) && (q.Actor == "" || l.Actor == q.Actor) &&
		!l.Time.Before(q.From) && (q.To.IsZero() || l.Time.Before(q.To))
}

// Found are entries that fit a query.
type Found struct {
	Lines []*Line
	// Next is the After of the query for those that follow; zero at the end. Select looks at a bounded number of entries, so
	// there may be more even if Lines is empty.
	Next uint64
}

// Select reads entries of a ledger that a server may be writing. It checks the hash of each entry that it looks at, and that the
// entries follow on each other, but not those before and behind them, as [Verify] does. An entry that is not as a server wrote
// it is a [DamageError].
func Select(ctx context.Context, dir string, q Query) (Found, error) {
	s, err := newSelection(ctx, q)
	if err != nil {
		return Found{}, err
	}
	all, err := segments(dir)
	if err != nil {
		return Found{}, err
	}
	if q.Newest {
		slices.Reverse(all)
	}
	for i := range all {
		if !q.Newest && i+1 < len(all) && all[i+1].first <= q.After+1 || q.Newest && q.After > 0 && all[i].first >= q.After {
			continue
		}
		if err := s.file(&all[i]); err != nil || s.isDone {
			return s.found, err
		}
	}
	return s.found, nil
}

// Select reads entries that are on disk, as the function of this name does.
func (l *Ledger) Select(ctx context.Context, q Query) (Found, error) {
	if q.last = l.acknowledged.Load(); q.last == 0 {
		return Found{}, nil
	}
	return Select(ctx, l.cfg.Dir, q)
}

// A selection is a query under way.
type selection struct {
	Query
	ctx    context.Context
	must   [][]byte // texts that a line must have to fit
	found  Found
	isDone bool

	looked int
	passed uint64     // number of the line that was considered last
	seen   *neighbour // the line that was read last; nil before the first
}

// A neighbour is what the next line must fit.
type neighbour struct {
	seq        uint64
	prev, hash Hash
}

func newSelection(ctx context.Context, q Query) (*selection, error) {
	if q.Limit <= 0 || q.Limit > MaxFound {
		q.Limit = MaxFound
	}
	s := &selection{Query: q, ctx: ctx}
	for _, one := range []struct{ key, value string }{{"tenant", q.Tenant}, {"actor", q.Actor}, {"action", q.Action}} {
		if one.value == "" {
			continue
		}
		value, err := json.Marshal(one.value)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(one.value, ".") {
			value = value[:len(value)-1]
		}
		s.must = append(s.must, fmt.Appendf(nil, `"%s":%s`, one.key, value))
	}
	return s, nil
}

// file reads the entries of a file that come next.
func (s *selection) file(of *segment) error {
	f, err := os.Open(of.path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := sizeOfLines(f)
	if err != nil {
		return err
	}
	next, err := s.reader(f, size)
	if err != nil {
		return err
	}
	for !s.isDone {
		text, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.line(text)
		}
		var damage *DamageError
		if errors.As(err, &damage) {
			damage.File = of.path
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reader returns what gives one line after the other, without its end, and io.EOF behind the last.
func (s *selection) reader(f *os.File, size int64) (next func() ([]byte, error), err error) {
	if !s.Newest {
		at, err := find(f, size, s.After+1)
		if err != nil {
			return nil, err
		}
		in := bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), maxLine)
		return func() ([]byte, error) {
			text, err := in.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				return nil, &DamageError{What: tooLong}
			}
			return bytes.TrimSuffix(text, []byte("\n")), err
		}, nil
	}
	end := size
	if s.After > 0 {
		if end, err = find(f, size, s.After); err != nil {
			return nil, err
		}
	}
	back := linesBack{f: f, off: end}
	return back.next, nil
}

var tooLong = fmt.Sprintf("it is longer than %d bytes", maxLine)

// line looks at the text of one line.
func (s *selection) line(text []byte) error {
	if s.looked++; s.looked%1000 == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	seq, ok := seqOf(text)
	if !ok {
		return &DamageError{What: "it is not an entry"}
	}
	if s.last != 0 && seq > s.last {
		s.isDone = !s.Newest
		return nil
	}
	if err := s.check(seq, text); err != nil {
		return &DamageError{Seq: seq, What: err.Error()}
	}
	if s.looked > maxScan || len(s.found.Lines) == s.Limit {
		s.found.Next, s.isDone = s.passed, true
		return nil
	}
	s.passed = seq
	for _, part := range s.must {
		if !bytes.Contains(text, part) {
			return nil
		}
	}
	l, err := parseLine(text)
	if err != nil {
		return &DamageError{Seq: seq, What: err.Error()}
	}
	if s.Fits(l) {
		s.found.Lines = append(s.found.Lines, l)
	}
	return nil
}

// check checks a line by itself, and against the one that was read before it.
func (s *selection) check(seq uint64, text []byte) error {
	prev, hash, err := checkHash(text)
	if err != nil {
		return err
	}
	is, was := &neighbour{seq, prev, hash}, s.seen
	s.seen = is
	if s.Newest {
		is, was = was, is
	}
	if is != nil && was != nil && (is.seq != was.seq+1 || is.prev != was.hash) {
		return errors.New("it does not follow on the entry before it: entries were removed, moved or put in")
	}
	return nil
}

// seqOf reads the number of a line.
func seqOf(text []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"seq":`))
	digits, _, cut := bytes.Cut(rest[:min(len(rest), 24)], []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, ok && cut && err == nil && seq > 0
}

// find returns where the first line begins whose number is at least seq; size, where the last line ends, if there is none.
func find(f io.ReaderAt, size int64, seq uint64) (begin int64, err error) {
	begin = size
	sort.Search(int(size), func(mid int) bool {
		if err != nil {
			return true
		}
		var text []byte
		var from int64
		if from, text, err = lineAt(f, int64(mid), size); err != nil {
			return true
		}
		if found, ok := seqOf(text); ok && found < seq {
			return false
		}
		begin = from
		return true
	})
	return begin, err
}

// lineAt returns the beginning of the first line that begins at an offset or behind it, and as much of the line as has its number;
// an empty text at the end.
func lineAt(f io.ReaderAt, at, size int64) (begin int64, text []byte, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, max(at-1, 0), size-max(at-1, 0)), 4096)
	begin = at
	if at > 0 {
		begin--
		for {
			skipped, err := in.ReadSlice('\n')
			begin += int64(len(skipped))
			if errors.Is(err, io.EOF) {
				return size, nil, nil
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return 0, nil, err
			}
		}
	}
	text, err = in.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	return begin, text, nil
}

// sizeOfLines returns where the last whole line of a file ends.
func sizeOfLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	text := make([]byte, min(info.Size(), maxLine))
	from := info.Size() - int64(len(text))
	if _, err := f.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return from + int64(bytes.LastIndexByte(text, '\n')+1), nil
}

// linesBack reads the lines of a file from the last to the first.
type linesBack struct {
	f   io.ReaderAt
	off int64  // where buf begins in the file
	buf []byte // that was read, and not given
}

func (r *linesBack) next() ([]byte, error) {
	for {
		if n := len(r.buf); n > 0 {
			if i := bytes.LastIndexByte(r.buf[:n-1], '\n'); i >= 0 || r.off == 0 {
				text := r.buf[i+1 : n-1]
				r.buf = r.buf[:i+1]
				return text, nil
			}
			if n > maxLine {
				return nil, &DamageError{What: tooLong}
			}
		} else if r.off == 0 {
			return nil, io.EOF
		}
		more := make([]byte, min(r.off, maxLine), int(min(r.off, maxLine))+len(r.buf))
		if _, err := r.f.ReadAt(more, r.off-int64(len(more))); err != nil {
			return nil, err
		}
		r.off -= int64(len(more))
		r.buf = append(more, r.buf...)
	}
}
