package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A listener is a client of one subscription.
type listener struct {
	mu       sync.Mutex
	messages []string
	gate     chan struct{} // each message waits for a token; nil for none
	fail     error

	end  context.CancelCauseFunc
	done chan *mcp.Error
}

func listen(t *testing.T, core *mcp.Core, l *listener, notifications string) *listener {
	t.Helper()
	m, err := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{` + meta + `,"notifications":` + notifications + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	l.end, l.done = end, make(chan *mcp.Error, 1)
	go func() { l.done <- core.Listen(ctx, m, l.take) }()
	return l
}

func (l *listener) take(message []byte) error {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, string(message))
	return l.fail
}

// heard returns all messages since the last call, shortened, in order but for the acknowledgment sorted.
func (l *listener) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, m := range l.messages {
		m = strings.Replace(m, `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`, "#", 1)
		out = append(out, strings.TrimPrefix(m, `{"jsonrpc":"2.0",`))
	}
	l.messages = nil
	slices.Sort(out)
	return out
}

const (
	ack         = `"method":"notifications/subscriptions/acknowledged","params":{#,"notifications":{%s}}}`
	listChanged = `"method":"notifications/resources/list_changed","params":{#}}`
	closure     = `"id":"L","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"},"io.modelcontextprotocol/subscriptionId":"L"}}}`
)

func updated(uri string) string {
	return fmt.Sprintf(`"method":"notifications/resources/updated","params":{#,"uri":%q}}`, uri)
}

func TestListenAcknowledgesWhatItKeeps(t *testing.T) {
	for _, tt := range []struct{ asked, ack string }{
		{`{}`, ``},
		{`{"toolsListChanged":true,"promptsListChanged":true,"x":[]}`, ``},
		{`{"resourcesListChanged":true}`, `"resourcesListChanged":true`},
		{`{"resourcesListChanged":false,"resourceSubscriptions":null}`, ``},
		{`{"resourceSubscriptions":[]}`, `"resourceSubscriptions":[]`},
		{`{"resourceSubscriptions":["test://nope","no uri","test://a/../b"]}`, `"resourceSubscriptions":[]`},
		{`{"resourceSubscriptions":["test://text","test://text","test://nope"],"resourcesListChanged":true}`,
			`"resourcesListChanged":true,"resourceSubscriptions":["test://text"]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSource()
			l := listen(t, newCore(t, mcp.Config{Source: s}), &listener{}, tt.asked)
			synctest.Wait()
			if diff := cmp.Diff([]string{fmt.Sprintf(ack, tt.ack)}, l.heard()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.asked, diff)
			}
			l.end(nil)
			if err := <-l.done; err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if rest := l.heard(); len(rest) > 0 || s.Watchers() > 0 {
				t.Errorf("heard %q after cancellation, %d watches are left", rest, s.Watchers())
			}
		})
	}
}

func TestListenRefuses(t *testing.T) {
	var uris []string
	for i := range 1025 {
		uris = append(uris, fmt.Sprintf("%q", fmt.Sprint("test://", i)))
	}
	for name, asked := range map[string]string{
		"null":          `null`,
		"array":         `[]`,
		"no boolean":    `{"resourcesListChanged":1}`,
		"no array":      `{"resourceSubscriptions":"test://text"}`,
		"no string":     `{"resourceSubscriptions":[1]}`,
		"too many URIs": `{"resourceSubscriptions":[` + strings.Join(uris, ",") + `]}`,
	} {
		l := listen(t, newCore(t, mcp.Config{Source: newSource()}), &listener{}, asked)
		if err := <-l.done; err == nil || err.Code != mcp.CodeInvalidParams || len(l.heard()) > 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	l := listen(t, newCore(t, mcp.Config{Source: deaf{newSource()}}), &listener{}, `{"resourcesListChanged":true}`)
	if err := <-l.done; err == nil || err.Code != 503 || len(l.heard()) > 0 {
		t.Errorf("source that cannot watch: got %v", err)
	}
}

type deaf struct{ *mcptest.Source }

func (deaf) Subscribe(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error) {
	return nil, abi.Errorf(abi.CodeUnavailable, "closing")
}

func TestListenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := newCore(t, mcp.Config{Source: newSource(), MaxSubscriptions: 2})
		first := listen(t, core, &listener{}, `{"resourcesListChanged":true}`)
		second := listen(t, core, &listener{}, `{}`)
		synctest.Wait()
		third := listen(t, core, &listener{}, `{}`)
		if err := <-third.done; err == nil || err.Code != 429 || !strings.Contains(string(err.Data), `"code":"busy"`) || len(third.heard()) > 0 {
			t.Errorf("got %v, want the limit", err)
		}
		first.end(nil)
		<-first.done
		fourth := listen(t, core, &listener{}, `{}`)
		synctest.Wait()
		if len(fourth.heard()) != 1 {
			t.Error("there is no room after one has ended")
		}
		second.end(nil)
		fourth.end(nil)
	})
}

func TestStalledClientGetsEachChangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		l := &listener{gate: make(chan struct{}, 1)}
		listen(t, newCore(t, mcp.Config{Source: s}), l, `{"resourcesListChanged":true,"resourceSubscriptions":["test://text","test://empty"]}`)
		for i := range 1000 {
			s.Text("test://text", fmt.Sprint(i))
			s.Text("test://empty", "")
			s.Text(fmt.Sprint("test://new", i), "")
			s.Blob("test://blob", nil)
			synctest.Wait()
		}
		if got := l.heard(); len(got) > 0 {
			t.Fatalf("heard %q through a closed gate", got)
		}
		close(l.gate)
		synctest.Wait()
		want := []string{listChanged, updated("test://empty"), updated("test://text"), fmt.Sprintf(ack, `"resourcesListChanged":true,"resourceSubscriptions":["test://text","test://empty"]`)}
		if diff := cmp.Diff(want, l.heard()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.Text("test://text", "again")
		synctest.Wait()
		if diff := cmp.Diff([]string{updated("test://text")}, l.heard()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		l.end(mcp.ErrClosing)
		synctest.Wait()
		if diff := cmp.Diff([]string{closure}, l.heard()); diff != "" || <-l.done != nil {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestListenEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		l := listen(t, newCore(t, mcp.Config{Source: s}), &listener{fail: errors.New("gone")}, `{"resourcesListChanged":true}`)
		if err := <-l.done; err != nil || len(l.heard()) != 1 {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if s.Watchers() > 0 {
			t.Error("the watch is left")
		}
		l.end(nil)
	})
}

// TestListenHammer changes things while subscriptions come and go.
func TestListenHammer(t *testing.T) {
	s := newSource()
	core := newCore(t, mcp.Config{Source: s})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.Text("test://text", fmt.Sprint(i))
				s.Text(fmt.Sprint("test://", i%10), "")
			}
		}
	})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range 20 {
				l := listen(t, core, &listener{}, `{"resourcesListChanged":true,"resourceSubscriptions":["test://text"]}`)
				for range i * 100 {
					runtime.Gosched()
				}
				l.end(mcp.ErrClosing)
				if err := <-l.done; err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	close(stop)
	wg.Wait()
}

// watching has the notifier of its last subscription, or panics.
type watching struct {
	*mcptest.Source
	notifier resource.Notifier
	panics   bool
	ctx      context.Context
}

func (w *watching) Subscribe(ctx context.Context, uris []abi.URI, _ bool, n resource.Notifier) ([]abi.URI, error) {
	if w.panics {
		panic("secret")
	}
	w.ctx, w.notifier = ctx, n
	return uris, nil
}

func TestSubscriptionWakesOnceForAllThatIsUnsaid(t *testing.T) {
	src := &watching{Source: newSource()}
	core := newCore(t, mcp.Config{Source: src, MaxSubscriptions: 1})
	m, _ := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{` + meta +
		`,"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["test://a","test://b"]}}}`))
	wakes := 0
	ctx, cancel := context.WithCancel(t.Context())
	s, failure := core.Subscribe(ctx, m, func() { wakes++ }, func() {})
	if failure != nil {
		t.Fatal(failure)
	}
	cancel() // bounds the beginning alone
	l := &listener{}
	say := func() {
		for {
			message, ok := s.Append(nil)
			if !ok {
				return
			}
			_ = l.take(message)
		}
	}
	if say(); wakes != 0 {
		t.Errorf("got %d wakes for the acknowledgment, want none", wakes)
	}
	l.heard()
	for round := range 2 {
		for _, uri := range []string{"test://b", "test://a", "test://b", "test://c", ""} {
			resource.Notify(src.notifier, uri)
		}
		if say(); wakes != round+1 {
			t.Errorf("round %d: got %d wakes, want one for all", round, wakes)
		}
		if diff := cmp.Diff([]string{listChanged, updated("test://a"), updated("test://b")}, l.heard()); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
	}
	if _, failure := core.Subscribe(t.Context(), m, func() {}, func() {}); failure == nil {
		t.Error("there is room for a second")
	}
	if src.ctx.Err() != nil {
		t.Error("the end of the beginning ended the watch")
	}
	s.Close()
	s.Close()
	if src.ctx.Err() == nil {
		t.Error("the watch goes on after Close")
	}
	_, third := core.Subscribe(t.Context(), m, func() {}, func() {})
	_, fourth := core.Subscribe(t.Context(), m, func() {}, func() {})
	if third != nil || fourth == nil {
		t.Errorf("got %v and %v after Close, want room for one", third, fourth)
	}
}

func TestSubscriptionThatPanicsTakesNoRoom(t *testing.T) {
	src := &watching{Source: newSource(), panics: true}
	core := newCore(t, mcp.Config{Source: src, MaxSubscriptions: 1})
	for range 2 {
		l := listen(t, core, &listener{}, `{"resourcesListChanged":true}`)
		if err := <-l.done; err == nil || err.Message != "Internal error" {
			t.Errorf("got %v, want an internal error", err)
		}
	}
}
