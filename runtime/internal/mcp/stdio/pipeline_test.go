package stdio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	sessions "github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/resource"
)

// front opens sessions of older revisions.
type front struct{ *sessions.Front }

func (f front) Connect(ctx context.Context, send func([]byte) error) (stdio.LegacySession, error) {
	return f.Front.Connect(ctx, send)
}

// serveBoth runs a server of all revisions over src, which writes to out, with answers of at most budget bytes whole.
func serveBoth(t *testing.T, src *mcptest.Source, budget int, out io.WriteCloser) (in *io.PipeWriter, done <-chan error) {
	t.Helper()
	core, err := mcp.New(mcp.Config{Source: src, Name: "test", Version: "1", Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	f, err := sessions.New(sessions.Config{Core: core, Source: src, Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	from, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := stdio.Serve(context.Background(), stdio.Config{Core: core, Legacy: front{f}, In: from, Out: out})
		out.Close()
		ended <- errors.Join(err, f.Close())
	}()
	return in, ended
}

// old makes a request of an older revision.
func old(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func oldRead(id, uri string) string { return old(id, "resources/read", fmt.Sprintf(`"uri":%q`, uri)) }

// handshake opens a session.
func handshake(t *testing.T, c *conn) {
	t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	synctest.Wait()
}

// mixedSource returns a source with a quick resource, a slow one, a long one, and a long one whose reads fail.
func mixedSource() (src *mcptest.Source, begun chan string, release chan struct{}) {
	src, begun, release = mcptest.New(), make(chan string, 2000), make(chan struct{})
	src.Text("test://quick", "quick")
	src.Text("test://long", strings.Repeat("long ", 100_000))
	wait := func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		begun <- req.URI.String()
		select {
		case <-release:
			return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("slow"))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	src.Handle(abi.Resource{URI: "test://slow", Name: "slow"}, wait)
	src.Handle(abi.Resource{URI: "test://broken", Name: "broken"}, func(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		if err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte(strings.Repeat("part ", 40_000))); err != nil {
			return nil, err
		}
		begun <- req.URI.String()
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil, abi.Errorf(abi.CodeTrap, "The provider crashed")
	})
	return src, begun, release
}

// lineClient runs a server of all revisions.
func lineClient(t *testing.T, src *mcptest.Source, budget int) *conn {
	from, out := io.Pipe()
	in, done := serveBoth(t, src, budget, out)
	c := &conn{t: t, in: in, lines: make(chan string, 10_000), done: make(chan error, 1)}
	go func() { c.done <- <-done }()
	go func() {
		defer close(c.lines)
		scanner := bufio.NewScanner(from)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			c.lines <- scanner.Text()
		}
	}()
	return c
}

// While slow requests take all but one of the places, quick requests after them are answered first.
func TestQuickRequestsOvertakeSlowOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, _, release := mixedSource()
		c := lineClient(t, src, 0)
		handshake(t, c)
		var want []string
		for i := range 63 {
			id := fmt.Sprint(1000 + i)
			if i%2 == 0 {
				c.send(read(id, "test://slow"))
			} else {
				c.send(oldRead(id, "test://slow"))
			}
			want = append(want, id+": slow")
		}
		for i := range 100 {
			c.send(read(fmt.Sprint(i), "test://quick"), oldRead(fmt.Sprintf(`"%d"`, i), "test://quick"))
		}
		for range 200 {
			if got := brief(t, c.next()); !strings.HasSuffix(got, ": quick") {
				t.Fatalf("got %s before the quick ones", got)
			}
		}
		close(release)
		rest, err := c.end()
		got := briefs(t, rest)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
}

// More requests than may run at once, with all kinds of line ends, and some cancelled in the queue, are all answered.
func TestAllAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, _, release := mixedSource()
		c := lineClient(t, src, 0)
		handshake(t, c)
		want := make(map[string]bool)
		var all strings.Builder
		for i := range 400 {
			id, uri, text := fmt.Sprint(i), "test://slow", "slow"
			if i%3 == 0 {
				uri, text = "test://quick", "quick"
			}
			line := read(id, uri)
			if i%2 == 0 {
				line = oldRead(id, uri)
			}
			all.WriteString([]string{"", "\n", " \t\r\n", "\r\n\r\n"}[i%4] + line + []string{"\n", "\r\n", " \n"}[i%3])
			if i >= 300 && text == "slow" && i%5 == 0 {
				all.WriteString(cancelled(id) + "\n") // none of these can have begun
				continue
			}
			want[id+": "+text] = true
		}
		if _, err := io.WriteString(c.in, all.String()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // all lines have been read
		close(release)
		rest, err := c.end()
		for _, line := range briefs(t, rest) {
			if !want[line] {
				t.Errorf("got %s, which was not asked for, or twice", line)
			}
			delete(want, line)
		}
		if len(want) > 0 || err != nil {
			t.Errorf("no answer to %v, %v", want, err)
		}
	})
}

// A long answer fails after a part was written, while others wait for their turn.
func TestBrokenLine(t *testing.T) {
	for _, tt := range []struct {
		name, end string // what the client says; empty when the provider fails by itself
		want      []string
	}{
		{"provider fails", "", []string{"(partial)", "7: error 502", "8: quick", "9: quick"}},
		{"cancelled", cancelled("7"), []string{"(partial)", "8: quick", "9: quick"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, begun, release := mixedSource()
				c := lineClient(t, src, 10_000)
				handshake(t, c)
				c.send(read("7", "test://broken"))
				<-begun
				c.send(read("8", "test://quick"), oldRead("9", "test://quick"))
				synctest.Wait()
				if len(c.lines) != 0 {
					t.Errorf("got %.100s in the midst of a line", <-c.lines)
				}
				if tt.end != "" {
					c.send(tt.end)
				} else {
					close(release)
				}
				rest, err := c.end()
				var got []string
				for _, line := range rest {
					if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":7,"result":`) && !strings.HasSuffix(line, "}") {
						got = append(got, "(partial)")
						continue
					}
					got = append(got, brief(t, line))
				}
				slices.Sort(got[min(1, len(got)):])
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%v, -want +got:\n%s", err, diff)
				}
			})
		})
	}
}

// A breaking output fails after some bytes.
type breaking struct {
	mu   sync.Mutex
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func (b *breaking) Close() error { return nil }

// The client closes its end while answers are written.
func TestOutputBreaks(t *testing.T) {
	for _, left := range []int{0, 1, 100, 50_000, 600_000} {
		synctest.Test(t, func(t *testing.T) {
			src, _, _ := mixedSource()
			in, done := serveBoth(t, src, 10_000, &breaking{left: left})
			go func() {
				for i := range 500 {
					uri := []string{"test://quick", "test://slow", "test://long"}[i%3]
					if _, err := io.WriteString(in, read(fmt.Sprint(i), uri)+"\n"); err != nil {
						return
					}
				}
			}()
			if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("after %d bytes: got %v, want what writing failed with", left, err)
			}
			in.Close()
		})
	}
}
