package hostile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// flooder is how the program of a worker is called that answers each call with one message over and over. What follows
// in the name says which.
const flooder = "worker-that-floods-"

// floods give the nth message, by what the flood is called. The worker reads the answer to each ask.
var floods = map[string]func(n int) protocol.Message{
	"changed":        repeat(message{protocol.KindChanged, []byte("x:changed")}),
	"list-changed":   repeat(message{protocol.KindChanged, nil}),
	"empty-frames":   repeat(message{protocol.KindFrame, nil}),
	"progress":       repeat(message{protocol.KindFrame, (&abi.Progress{Done: 1, Total: 2}).Append(nil)}),
	"large-progress": repeat(message{protocol.KindFrame, slices.Repeat((&abi.Progress{}).Append(nil), 100_000)}),
	"logs":           repeat(&protocol.Log{Message: "guest log", Attrs: []protocol.Attr{{Key: "text", Value: strings.Repeat("v", 1000)}}}),
	"bodies":         repeat(message{protocol.KindBody, []byte("b")}),
	"chunks": func(n int) protocol.Message {
		const size = 64 << 10
		return &protocol.Chunk{Offset: uint32(n * size % protocol.DefaultWindow), Length: size}
	},
	"asks":                  repeat(&protocol.Ask{Service: abi.ServiceConfig, Request: []byte("k")}),
	"asks-for-notices":      repeat(&protocol.Ask{Service: abi.ServiceNotifyList}),
	"asks-for-what-is-slow": repeat(&protocol.Ask{Service: abi.ServiceHTTP}),
}

func repeat(m protocol.Message) func(int) protocol.Message {
	return func(int) protocol.Message { return m }
}

// A message has any kind and payload.
type message struct {
	kind    protocol.Kind
	payload []byte
}

func (m message) Kind() protocol.Kind    { return m.kind }
func (m message) Append(b []byte) []byte { return append(b, m.payload...) }
func (m message) Check() error           { return nil }

// flood makes this program the worker that floods its parent, if that is its name. Then it does not return.
func flood() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	if name, ok := strings.CutPrefix(filepath.Base(program), flooder); ok {
		fmt.Fprintln(os.Stderr, floodParent(floods[name]))
		os.Exit(1)
	}
}

// floodParent says that it is ready, waits for a call, and floods.
func floodParent(nth func(int) protocol.Message) error {
	link, err := protocol.Open(os.NewFile(5, "link"), 0)
	if err != nil {
		return err
	}
	link.Put(protocol.KindReady, []byte(`{"reset":"reset"}`))
	if err := link.Flush(); err != nil {
		return err
	}
	if _, _, err := link.Next(); err != nil {
		return err
	}
	link.Begin(link.Number())
	if nth(0).Kind() != protocol.KindAsk {
		go discardCredit(link)
	}
	for n := 0; ; n++ {
		m := nth(n)
		if link.PutMessage(m); m.Kind() != protocol.KindAsk && link.Queued() < 32<<10 {
			continue
		}
		if err := link.Flush(); err != nil {
			return err
		}
		if m.Kind() != protocol.KindAsk {
			continue
		}
		if _, _, err := link.Next(); err != nil {
			return err
		}
	}
}

func discardCredit(link *protocol.Conn) {
	for {
		if _, _, err := link.Next(); err != nil {
			return
		}
	}
}

// obstinate is a service that answers when its context ends.
type obstinate struct{}

func (obstinate) Call(ctx context.Context, _ []byte) (capability.Response, error) {
	<-ctx.Done()
	return capability.Response{}, ctx.Err()
}

// TestAFloodEndsWithTheCall has a worker that is no longer ours say something over and over, in good order.
func TestAFloodEndsWithTheCall(t *testing.T) {
	alone(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range floods {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), flooder+name)
			if err := copyProgram(program, self); err != nil {
				t.Fatal(err)
			}
			took := time.Duration(1 << 62)
			for range processTries {
				if took = min(took, floodOnce(t, program)); raceEnabled || took <= processTimeout+processLate {
					break
				}
			}
			t.Logf("ended after %v", took)
			if !raceEnabled && took > processTimeout+processLate {
				t.Errorf("the call took %v, want at most %v", took, processTimeout+processLate)
			}
		})
	}
}

// copyProgram makes the file of a program known by another name as well.
func copyProgram(to, from string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700)
}

// floodOnce says how long a call takes whose worker floods.
func floodOnce(t *testing.T, program string) time.Duration {
	t.Helper()
	runner, err := worker.New(worker.Config{
		Executable: program,
		NativeCode: worker.NativeCode{
			Compile:    func(context.Context, []byte, func() ([]byte, error)) (string, error) { return t.TempDir(), nil },
			Invalidate: func([]byte) error { return nil },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &guesttest.Puppet{Manifest: abi.Manifest{Name: "puppet", Ops: 1 << abi.OpRead}}
	m, err := provider.Open(t.Context(), provider.Config{
		Runner: runner, Limits: limits.Limits{Timeout: processTimeout},
		Services: capability.Services{abi.ServiceConfig: capability.Config{}, abi.ServiceHTTP: obstinate{}},
	}, p.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:o"}, discard{})
	took := time.Since(began)
	if err == nil {
		t.Error("the call succeeded")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return took
}

// discard takes contents.
type discard struct{}

func (discard) Content(*abi.Content) error { return nil }
func (discard) Body([]byte) error          { return nil }
func (discard) Progress(abi.Progress)      {}
