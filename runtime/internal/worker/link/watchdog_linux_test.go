package link

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A heldProcess holds each check of its calls until held is closed.
type heldProcess struct {
	ended
	held chan struct{}
}

func (p *heldProcess) Contended() bool { <-p.held; return false }

// A check that runs late, when the next call has begun, does not put off the first check of that call.
func TestALateCheckDoesNotPutOffTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &heldProcess{held: make(chan struct{})}
		l := &link{set: New(Config{Process: p, Grace: time.Second})}
		began, checked := time.Now(), []time.Duration(nil)
		l.watchdog = deadline.NewWatch(func() { checked = append(checked, time.Since(began)) })
		l.watch(began.Add(time.Hour))
		go l.checkDeadline()
		synctest.Wait()
		l.endWatch()
		l.watch(began.Add(time.Hour))
		close(p.held)
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{backgroundAfter}; !slices.Equal(checked, want) {
			t.Errorf("checked after %v, want %v", checked, want)
		}
	})
}

// A check that runs late, when the link is closed, does not wait for the end of the caller.
func TestAClosedLinkFollowsNoCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	bounds := deadline.New(ctx, time.Hour)
	defer bounds.Release()
	c := (&guest.Host{}).NewCall(abi.OpRead, &abi.Request{}, nil)
	c.Begin(ctx, bounds, limiter.Ticket{})
	conn, theirs, err := protocol.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	l, err := New(Config{Process: &heldProcess{}, Grace: time.Second}).newLink(conn)
	if err != nil {
		t.Fatal(err)
	}
	l.take(&pendingCall{call: c, seq: 1})
	l.close()
	l.follow()
	if l.caller.stop != nil {
		t.Error("the link waits for the end of a caller")
	}
}
