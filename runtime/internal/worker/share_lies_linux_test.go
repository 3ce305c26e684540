package worker_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// An end is a worker's end of a link.
type end struct {
	*protocol.Conn
	fd int
}

// unread is how many bytes have come that were not read.
func (e end) unread() int {
	n, err := unix.IoctlGetInt(e.fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// next waits for the next call, which begins.
func (e end) next() (payload []byte, err error) {
	_, payload, err = e.Next()
	e.Begin(e.Number())
	return payload, err
}

// peek returns the number of a call that came as the nth of those of size bytes each, none of which was read.
func (e end) peek(n, size int) uint64 {
	b := make([]byte, (n+1)*size)
	if got, _, err := unix.Recvfrom(e.fd, b, unix.MSG_PEEK); err != nil || got < len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[n*size+8:])
}

// text answers a call with a text, as it should be done.
func (e end) text(s string) {
	e.Put(protocol.KindFrame, (&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte(s)}).Append(nil))
	e.PutMessage(&protocol.Done{})
	_ = e.Flush()
}

// serveLinks begins properly and has do serve each of so many links. Then it obeys no more.
func (l *liar) serveLinks(links int, do func(end)) error {
	if err := errors.Join(l.begin(), l.ready(`{"reset":"reset"}`)); err != nil {
		return err
	}
	go do(end{l.link, fdLink})
	for made := 1; made < links; {
		kind, _, err := l.control.Next()
		if err != nil {
			return err
		}
		if kind != protocol.KindNewLink {
			continue
		}
		files, err := l.control.TakeFiles(2)
		if err != nil {
			return err
		}
		fd := int(files[0].Fd())
		conn, err := protocol.Open(files[0], 0)
		if err != nil {
			return err
		}
		go do(end{conn, fd})
		made++
	}
	return asleep()
}

const manyLinks = 1 << 30

// answersUnread reads no call, and answers as if it did: each has as many bytes as the first.
func answersUnread(l *liar) error {
	const soon = 300 * time.Microsecond // the next one follows
	return l.serveLinks(manyLinks, func(e end) {
		size := 0
		for answered := 0; ; <-time.After(soon) {
			n := e.unread()
			if size == 0 {
				size = n
			}
			if n >= (answered+1)*size {
				e.Begin(e.peek(answered, size))
				answered++
				e.text("fine")
			}
		}
	})
}

// neverConfirms answers some calls at once, then has others wait behind one until they move to other links, and never
// confirms that those are cancelled.
func neverConfirms(l *liar) error {
	const quick, long = 60, 6 * time.Millisecond
	return l.serveLinks(manyLinks, func(e end) {
		for n := 0; ; n++ {
			if _, err := e.next(); err != nil {
				return
			}
			if n > quick && (e.HasBuffered() || e.unread() > 0) {
				break
			}
			e.text("fine")
		}
		<-time.After(long)
		e.text("fine")
		_ = asleep() // with the link open
	})
}

// stopsObeying serves two links, and reads nothing more on control. It ends the middling calls when there is one on each
// link, and begins to answer the long one, which ends when a short one has come on the other link.
func stopsObeying(l *liar) error {
	var both sync.WaitGroup
	both.Add(2)
	short := make(chan struct{})
	told := sync.OnceFunc(func() { close(short) })
	return l.serveLinks(2, func(e end) {
		arrived := sync.OnceFunc(both.Done)
		for {
			p, err := e.next()
			if err != nil {
				return
			}
			switch {
			case bytes.Contains(p, []byte("x:mid")):
				arrived()
				both.Wait()
			case bytes.Contains(p, []byte("x:long")):
				e.Put(protocol.KindFrame, (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil))
				e.Put(protocol.KindBody, []byte{0})
				_ = e.Flush()
				<-short
				e.PutMessage(&protocol.Done{})
				_ = e.Flush()
				continue
			case bytes.Contains(p, []byte("x:o")):
				told()
			}
			e.text("fine")
		}
	})
}

// A call whose turn has come while it is still being sent ends in time, whatever the worker reads.
func TestACallThatCannotBeSentBehindOthersEnds(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	r := newRunner(t, worker.Config{Executable: roleOf(t, "answers-what-it-has-not-read"), PipelineUnder: always})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: time.Second, Calls: 8}}, well)
	ended := time.AfterFunc(patience, func() { panic("a call does not end") })
	defer ended.Stop()
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for {
				_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o", Value: strings.Repeat("v", 10_000)}, &sink{})
				if err == nil {
					continue
				}
				if code := abi.CodeOf(err); code != abi.CodeDeadline && code != abi.CodeUnavailable {
					t.Errorf("got %v", err)
				}
				return
			}
		})
	}
	clients.Wait()
}

// A worker may never confirm that calls which moved are cancelled: that takes no more links than there are calls.
func TestLinksThatAreNeverConfirmedAreFew(t *testing.T) {
	takesLong(t)
	leavesNothing(t)
	r := newRunner(t, worker.Config{Executable: roleOf(t, "never-confirms")})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience, Calls: 4}}, well)
	standbyOf(t)
	before := takeStock(t).files
	var clients sync.WaitGroup
	var most atomic.Int64
	for range m.Info().Limits.Calls {
		clients.Go(func() {
			for n := range 1000 {
				_, _ = read(t.Context(), m, "x:o")
				if n%50 == 0 {
					most.Store(max(most.Load(), int64(takeStock(t).files)))
				}
			}
		})
	}
	clients.Wait()
	// Each link is two files. A link drains, with the calls that moved on one each; a worker is replaced.
	if limit := before + 2*(m.Info().Limits.Calls+2) + 8; int(most.Load()) > limit {
		t.Errorf("got %d files, at the start %d, want at most %d", most.Load(), before, limit)
	}
}

// Calls that wait behind a long one move to other links before the parent tells the worker, which may not read. The long
// call ends when they have moved: if they waited for the worker, the parent would kill it with the long call.
func TestMovingCallsDoesNotWaitForTheWorker(t *testing.T) {
	leavesNothing(t)
	var jam sync.WaitGroup
	t.Cleanup(jam.Wait) // which ends with the worker
	var log journal
	r := newRunner(t, worker.Config{Executable: roleOf(t, "stops-obeying"), PipelineUnder: always, Logger: log.debug()})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience, Calls: 8}}, well)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { _, _ = read(t.Context(), m, "x:mid") }) // the second moves: two links from now on
	}
	both.Wait()
	jam.Go(func() {
		for range 1000 {
			m.EndSession(strings.Repeat("s", 200))
		}
	})
	var long sync.WaitGroup
	began := make(chan struct{})
	long.Go(func() {
		s := sink{onBody: func(int) { close(began) }}
		if _, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:long"}, &s); err != nil {
			t.Errorf("the long call, for which others did not have to wait: %v\n%s", err, log.String())
		}
	})
	<-began
	<-time.After(100 * time.Millisecond) // in which the messages of ended sessions fill the control connection
	works(t, m)
	long.Wait()
}
