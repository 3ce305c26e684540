package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/database"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
)

// lengths are those of frames: that of a small one, those around the size of a box, and that of a large one.
var lengths = []int{1, 100, sqlite.BoxData - 1, sqlite.BoxData, sqlite.BoxData + 1, 1, 300 << 10, 40}

// pattern returns n bytes that differ from those of the seeds before and after.
func pattern(n, seed int) []byte { return bytes.Repeat([]byte{byte(seed)}, n) }

// Requests and answers come whole and in order, whichever go through the box and whenever either process tires of it.
func TestFramesComeThroughABox(t *testing.T) {
	const requests = 500
	b := sqlite.NewBox()
	toHelper, toParent := make(chan []byte, 1), make(chan []byte, 1) // the pipes
	failed, ended := make(chan error, 1), make(chan struct{})        // the helper
	go func() {
		defer close(ended)
		for i := range requests {
			request, come := b.Next()
			if !come {
				request = <-toHelper
			}
			if want := pattern(lengths[i%len(lengths)], i); !bytes.Equal(request, want) {
				failed <- fmt.Errorf("request %d has %d bytes, want %d", i, len(request), len(want))
				return
			}
			if i%31 == 0 {
				time.Sleep(2 * time.Millisecond) // longer than the parent awaits the answer
			}
			if answer := pattern(lengths[i/3%len(lengths)], -i); !b.Answer(answer) {
				toParent <- answer
			}
		}
	}()
	boxed := 0
	for i := range requests {
		b.Look(time.Duration(i/50%3) * time.Millisecond)
		if i%29 == 0 {
			time.Sleep(time.Duration(i%3) * time.Millisecond) // longer than the helper looks
		}
		request := pattern(lengths[i%len(lengths)], i)
		var answer []byte
		var come bool
		var err error
		if b.Ask(request) {
			answer, come, err = b.Await(time.Millisecond)
		} else {
			toHelper <- request
		}
		if err != nil {
			t.Fatal(err)
		}
		if boxed++; !come {
			boxed--
			select {
			case answer = <-toParent:
			case err := <-failed:
				t.Fatal(err)
			}
		}
		if want := pattern(lengths[i/3%len(lengths)], -i); !bytes.Equal(answer, want) {
			t.Fatalf("answer %d has %d bytes, want %d", i, len(answer), len(want))
		}
	}
	<-ended
	select {
	case err := <-failed:
		t.Error(err)
	default:
	}
	if boxed == 0 {
		t.Error("all answers took the pipes")
	}
}

// FuzzBox has a helper write what it likes to the box. The parent never waits long, and copies no more than a box holds.
func FuzzBox(f *testing.F) {
	f.Add(uint32(1), uint32(0), uint32(1), uint32(40), []byte("request"))
	f.Add(uint32(1), uint32(0), uint32(0), uint32(0), []byte("request"))
	f.Add(uint32(1), uint32(0), uint32(1), uint32(sqlite.BoxData+1), []byte{})
	f.Add(uint32(1), uint32(1<<31), uint32(2), uint32(1<<32-1), []byte{})
	f.Add(uint32(3), uint32(0), uint32(3), uint32(9), []byte{1})
	f.Add(uint32(77), uint32(0), uint32(99), uint32(9), []byte{1})
	f.Fuzz(func(t *testing.T, before, size, after, answer uint32, request []byte) {
		b := sqlite.NewBox()
		b.Write(before, size)
		if !b.Ask(request) {
			return
		}
		b.Write(after, answer)
		got, come, err := b.Await(time.Microsecond)
		if come != (len(got) > 0) || len(got) > sqlite.BoxData || err != nil && !errors.Is(err, sqlite.ErrProtocol) {
			t.Errorf("got %d bytes, %t, %v", len(got), come, err)
		}
	})
}

// look has the helper of a session look at its box.
func look(tb testing.TB, s database.Session) {
	tb.Helper()
	if !sqlite.Look(s) {
		tb.Skip("frames take the pipes alone on this machine")
	}
}

// Statements of any size have the same rows while the helper looks at its box.
func TestStatementsThroughABox(t *testing.T) {
	s := connect(t, open(t, makeFile(t)))
	row, boxed := make([]abi.SQLValue, 1), 0
	run := func(want int, query string, args ...abi.SQLValue) (rows [][]abi.SQLValue) {
		t.Helper()
		look(t, s)
		for range 2 { // the helper looks at least after the first
			var err error
			if rows, err = all(t.Context(), s, time.Minute, query, args...); err != nil || len(rows) != want {
				t.Fatalf("got %d rows, %s, want %d", len(rows), cause(err), want)
			}
		}
		if sqlite.IsBoxed(s) {
			boxed++
		}
		return rows
	}
	for i := range 60 {
		text := strings.Repeat("x", lengths[i%len(lengths)])
		if rows := run(1, "select ?1", abi.SQLValue{Kind: abi.SQLText, Text: text}); rows[0][0].Text != text {
			t.Fatalf("got a text of %d bytes, want %d", len(rows[0][0].Text), len(text))
		}
		run(i*100, many(0).Query, many(int64(i*100)).Args...)
		if _, err := all(t.Context(), s, time.Minute, "select nothing from nowhere"); abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Fatalf("a wrong statement: got %s", cause(err))
		}
		_, err := s.Query(t.Context(), many(100_000)) // and the rest is not read
		if err = errors.Join(err, s.Next(row), s.Reset(t.Context())); err != nil || row[0].Int != 1 {
			t.Fatalf("got %v, %s", row, cause(err))
		}
	}
	if boxed == 0 {
		t.Error("all answers took the pipes")
	}
}

// Statements end as they do by the pipes when their helper looks at its box.
func TestStatementsThroughABoxEnd(t *testing.T) {
	d := open(t, makeFile(t))
	for range 3 {
		s := connect(t, d)
		look(t, s)
		if _, err := all(t.Context(), s, time.Minute, "select 1"); err != nil {
			t.Fatal(cause(err))
		}
		if _, err := all(t.Context(), s, 50*time.Millisecond, endless); abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %s", cause(err))
		}
		<-sqlite.Ended(s)
	}
}

// A pace has one helper look at a time: one whose requests come soon and are answered soon.
func TestPace(t *testing.T) {
	sqlite.ReleasePaces()
	now := time.Now()
	var p, other sqlite.Pace
	// request observes a request that comes after a pause and whose answer takes a while.
	request := func(p *sqlite.Pace, pause, answer time.Duration) bool {
		asked := now.Add(pause)
		now = asked.Add(answer)
		return p.Observe(asked, now)
	}
	// soon returns how many requests come soon before the helper looks; -1 for never.
	soon := func(p *sqlite.Pace) int {
		for n := range 500 {
			if request(p, time.Microsecond, 0) {
				return n
			}
		}
		return -1
	}
	request(&p, time.Second, 0)
	first := soon(&p)
	if first < 1 {
		t.Fatalf("the helper looks after %d requests", first)
	}
	if got := soon(&other); got != -1 {
		t.Errorf("two helpers look: the other after %d requests", got)
	}
	if request(&p, time.Second, 0) {
		t.Error("it looks for a request that came late")
	}
	if got := soon(&p); got != first {
		t.Errorf("after that it looks after %d requests, want %d", got, first)
	}
	if !request(&p, 0, time.Second) {
		t.Error("it looks no longer because it took long to wake")
	}
	if request(&p, 0, time.Second) {
		t.Error("it looks although the answer came late")
	}
	last := 0
	for range 3 {
		p.Missed()
		got := soon(&p)
		if got <= last {
			t.Errorf("after one more miss it looks after %d requests, before after %d", got, last)
		}
		last = got
	}
	p.Missed()
	request(&other, time.Second, 0)
	if got := soon(&other); got == -1 {
		t.Error("the other helper does not look although no other does")
	}
	other.Missed()
}

// A helper looks for the requests of reads in a worker, which come some 400 µs apart, and not for those that come seldom.
func TestPaceOfReadsInAWorker(t *testing.T) {
	for _, tt := range []struct {
		apart time.Duration
		looks bool
	}{{400 * time.Microsecond, true}, {time.Millisecond, false}} {
		sqlite.ReleasePaces()
		now := time.Now()
		var p sqlite.Pace
		looks := false
		for range 100 {
			asked := now.Add(tt.apart)
			now = asked.Add(20 * time.Microsecond)
			looks = p.Observe(asked, now)
		}
		p.Missed()
		if looks != tt.looks {
			t.Errorf("requests %v apart: looks %t, want %t", tt.apart, looks, tt.looks)
		}
	}
}

// Paces that want to look take turns; one that is alone looks for as long as it likes.
func TestPacesTakeTurns(t *testing.T) {
	sqlite.ReleasePaces()
	const step = 50 * time.Microsecond
	now := time.Now()
	var p, other sqlite.Pace
	defer p.Missed()
	defer other.Missed()
	request := func(p *sqlite.Pace) bool {
		now = now.Add(step)
		return p.Observe(now, now)
	}
	alone := 0
	for range 100_000 { // 5 s
		if request(&p) {
			alone++
		}
	}
	if alone < 99_000 {
		t.Errorf("of 100,000 requests of the only session it looks after %d", alone)
	}
	var looked [2]int
	for range 50_000 {
		for i, one := range []*sqlite.Pace{&p, &other} {
			if request(one) {
				looked[i]++
			}
		}
	}
	if min(looked[0], looked[1]) < 20_000 || looked[0]+looked[1] > 50_000 {
		t.Errorf("of 50,000 requests of two sessions each, they look after %v", looked)
	}
}

// After an answer that came late, as when the system gives the processor to another process, no helper looks for a while.
func TestALateAnswerEndsLooking(t *testing.T) {
	sqlite.ReleasePaces()
	const step = 50 * time.Microsecond
	now := time.Now()
	var p, other sqlite.Pace
	defer p.Missed()
	defer other.Missed()
	for range 20 { // both come soon
		now = now.Add(step)
		p.Observe(now, now)
		other.Observe(now, now)
	}
	p.Late(now)
	looks := 0
	for n := range 1000 { // 50 ms
		now = now.Add(step)
		if other.Observe(now, now) || p.Observe(now, now) {
			if looks++; n < 100 {
				t.Fatalf("a helper looks after %d requests", n)
			}
		}
	}
	if looks < 500 {
		t.Errorf("of 1,000 requests after that, a helper looks after %d", looks)
	}
}
