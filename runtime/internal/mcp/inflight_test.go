package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// heavy is a source of what is large.
func heavy() *mcptest.Source {
	s := mcptest.New()
	for i := range 300 {
		uri := fmt.Sprintf("test://entry/%d", i)
		s.Handle(abi.Resource{URI: uri, Name: "entry", Description: strings.Repeat("\"é\n", 700)}, nil)
	}
	s.Text("test://text", strings.Repeat("\x01é\"", 300_000))
	s.Blob("test://blob", bytes.Repeat([]byte{1, 2, 3, 4, 5}, 300_001))
	s.Handle(abi.Resource{URI: "test://fails", Name: "fails"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, make([]byte, 1_000_000))
		return nil, errors.Join(err, abi.Errorf(abi.CodeUnavailable, "halfway"))
	})
	return s
}

var heavyRequests = map[string]string{
	"list":       `"method":"resources/list","params":{`,
	"text":       `"method":"resources/read","params":{"uri":"test://text",`,
	"blob":       `"method":"resources/read","params":{"uri":"test://blob",`,
	"part":       `"method":"resources/read","params":{"uri":"test://blob",%window`,
	"list tool":  `"method":"tools/call","params":{"name":"list_resources",`,
	"text tool":  `"method":"tools/call","params":{"name":"read_resource","arguments":{"uri":"test://text"},`,
	"blob tool":  `"method":"tools/call","params":{"name":"read_resource","arguments":{"uri":"test://blob"},`,
	"fails":      `"method":"resources/read","params":{"uri":"test://fails",`,
	"tool fails": `"method":"tools/call","params":{"name":"read_resource","arguments":{"uri":"test://fails"},`,
}

func heavyMessage(t *testing.T, request string) *mcp.Message {
	t.Helper()
	window := ""
	if rest, ok := strings.CutSuffix(request, "%window"); ok {
		request, window = rest, `"io.github.wasmres/window":{"offset":7,"length":1000003},`
	}
	m, failure := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,` + request + `"_meta":{` + window +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if failure != nil {
		t.Fatal(failure)
	}
	return m
}

func heavyCore(t *testing.T, budget *inflight.Budget) *mcp.Core {
	t.Helper()
	core, err := mcp.New(mcp.Config{Source: heavy(), Name: "test", Version: "1", Tools: true, InFlight: budget, MaxWait: 1})
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// An answer is the same however much room there is for it, and takes no more than that.
func TestAnswersAreTheSameWithoutRoom(t *testing.T) {
	for name, request := range heavyRequests {
		t.Run(name, func(t *testing.T) {
			plenty, little := inflight.New(0), inflight.New(0)
			whole, failure := heavyCore(t, plenty).Answer(t.Context(), nil, heavyMessage(t, request), mcp.ResponseStream{})
			if strings.HasSuffix(name, "fails") != (failure != nil || bytes.Contains(whole, []byte(`"isError":true`))) {
				t.Fatalf("got %v", failure)
			}
			core := heavyCore(t, little)
			little.Force(little.Most() - 200_000)
			before := little.Used()
			var parts []byte
			most := int64(0)
			rest, cut := core.Answer(t.Context(), core.Buffer(), heavyMessage(t, request), mcp.ResponseStream{Flush: func(part []byte) error {
				parts = append(parts, part...)
				most = max(most, little.Used()-before)
				return nil
			}})
			if failure != nil || strings.HasSuffix(name, "fails") {
				if len(parts) == 0 || cut == nil {
					t.Errorf("%d bytes left before the failure %v", len(parts), cut)
				}
			} else if parts = append(parts, rest...); cut != nil || !bytes.Equal(parts, whole) || !json.Valid(parts) {
				t.Errorf("got %d bytes, %v, want %d, as with plenty of room", len(parts), cut, len(whole))
			}
			if most > 512<<10 {
				t.Errorf("%d bytes were counted where 200,000 were left", most)
			}
			core.Release(rest)
			if little.Used() != before {
				t.Errorf("%d counted in the end, %d before", little.Used(), before)
			}
		})
	}
}

// An answer that may not leave in parts is refused where there is no room for it.
func TestWholeAnswersAreRefusedWithoutRoom(t *testing.T) {
	budget := inflight.New(1 << 20)
	core := heavyCore(t, budget)
	hold := budget.Hold()
	defer hold.End()
	ctx := inflight.With(t.Context(), hold)
	for method, params := range map[string]string{
		"resources/list": `{}`, "resources/read": `{"uri":"test://blob"}`, "tools/call": `{"name":"read_resource","arguments":{"uri":"test://text"}}`,
	} {
		answer, failure := core.Call(ctx, &mcp.Call{Method: method, Params: []byte(params), Revision: mcp.Revision20251125})
		if text := fmt.Sprint(failure); !strings.Contains(text+string(answer), "have not read yet") {
			t.Errorf("%s: got %.100s, %v", method, answer, failure)
		}
		if budget.Used() != 0 {
			t.Errorf("%s: %d counted in the end", method, budget.Used())
		}
	}
	budget = inflight.New(0)
	core, hold = heavyCore(t, budget), budget.Hold()
	answer, failure := core.Call(inflight.With(t.Context(), hold), &mcp.Call{Method: "resources/list", Revision: mcp.Revision20251125})
	if failure != nil || budget.Used() < int64(2*len(answer)) {
		t.Errorf("%d bytes are counted as %d, %v", len(answer), budget.Used(), failure)
	}
	if hold.End(); budget.Used() != 0 {
		t.Errorf("%d counted in the end", budget.Used())
	}
}

// A request for a list of large pages waits before it asks, and is told when it waited in vain.
func TestListsWaitForRoom(t *testing.T) {
	budget := inflight.New(0)
	src := &weighing{Source: heavy()}
	core, err := mcp.New(mcp.Config{Source: src, Name: "test", Version: "1", InFlight: budget, MaxWait: 1})
	if err != nil {
		t.Fatal(err)
	}
	list := func() *mcp.Error {
		out, failure := core.Answer(t.Context(), nil, heavyMessage(t, heavyRequests["list"]), mcp.ResponseStream{Flush: func([]byte) error { return nil }})
		core.Release(out)
		return failure
	}
	if failure := list(); failure != nil || budget.Used() != 0 || src.asked != 1 {
		t.Fatalf("%v, %d counted", failure, budget.Used())
	}
	budget.Force(budget.Most() - 100_000)
	if failure := list(); failure == nil || !strings.Contains(string(failure.Data), `"busy"`) || src.asked != 1 {
		t.Errorf("got %v, asked %d times", failure, src.asked)
	}
}

// A weighing source says what its pages take, as guests' do.
type weighing struct {
	*mcptest.Source
	asked int
}

func (w *weighing) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	w.asked++
	if !inflight.Of(ctx).Take(1 << 20) {
		return nil, inflight.Busy(1)
	}
	return w.Source.List(ctx, req)
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
