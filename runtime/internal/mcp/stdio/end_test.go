package stdio_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
)

func TestRequestsHaveGraceAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		c := serve(t, t.Context(), s, stdio.Config{Grace: time.Second, MaxConcurrent: 1})
		c.send(read("1", "test://gate"))
		synctest.Wait()
		c.send(read("2", "test://gate"))
		time.AfterFunc(900*time.Millisecond, func() { g.open <- struct{}{} })
		start := time.Now()
		rest, err := c.end()
		want := []string{"1: opened", "2: error 499"}
		if diff := cmp.Diff(want, briefs(t, rest)); diff != "" || err != nil || time.Since(start) != time.Second {
			t.Errorf("error %v after %v; answers (-want +got):\n%s", err, time.Since(start), diff)
		}
	})
}

func TestContextEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := gated()
		ctx, cancel := context.WithCancel(t.Context())
		c := serve(t, ctx, s, stdio.Config{})
		c.send(read("1", "test://gate"))
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(g.open)
		if got := brief(t, c.next()); got != "1: opened" {
			t.Errorf("got %s, want the answer", got)
		}
		if err := <-c.done; err != nil {
			t.Errorf("got error %v, want none", err)
		}
		c.in.Close()
	})
}

func TestServeEndsWhenTheClientDoesNotRead(t *testing.T) {
	for name, input := range map[string]string{
		"answers":  read("1", "test://text") + "\n" + read("2", "test://text"),
		"refusals": "{\n{\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, err := mcp.New(mcp.Config{Source: source(), Name: "test", Version: "1"})
				if err != nil {
					t.Fatal(err)
				}
				unread, out := io.Pipe()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err = stdio.Serve(ctx, stdio.Config{Core: core, In: strings.NewReader(input), Out: out})
				if err == nil {
					t.Error("got no error, want one that says so")
				}
				unread.Close()
			})
		})
	}
}

func TestBrokenOutputEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, err := mcp.New(mcp.Config{Source: source(), Name: "test", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		fromServer.CloseWithError(io.ErrClosedPipe)
		done := make(chan error)
		go func() {
			done <- stdio.Serve(t.Context(), stdio.Config{Core: core, In: in, Out: out})
		}()
		io.WriteString(toServer, read("1", "test://text")+"\n")
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v, want the error of the write", err)
		}
		toServer.Close()
	})
}
