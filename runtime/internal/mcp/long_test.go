package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// long is a request for a resource that is longer than the budget, and the core that answers it.
func long(t *testing.T, read mcptest.Handler) (*mcp.Core, *mcp.Message) {
	t.Helper()
	s := mcptest.New()
	s.Handle(abi.Resource{URI: "test://long", Name: "long"}, read)
	m, failed := mcp.ParseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{` +
		strings.Replace(meta, `"_meta":{`, `"_meta":{"progressToken":"t",`, 1) + `,"uri":"test://long"}}`))
	if failed != nil {
		t.Fatal(failed)
	}
	return newCore(t, mcp.Config{Source: s, Budget: 1 << 20}), m
}

func TestLongAnswersLeaveInParts(t *testing.T) {
	blob := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	core, m := long(t, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob}, blob)
	})
	var whole []byte
	largest := 0
	rest, failed := core.Answer(t.Context(), []byte("kept"), m, mcp.ResponseStream{Flush: func(part []byte) error {
		whole, largest = append(whole, part...), max(largest, len(part))
		return nil
	}})
	if failed != nil || !bytes.HasPrefix(rest, []byte("kept")) {
		t.Fatalf("got %v, and %.20q, want what was there before", failed, rest)
	}
	var got struct {
		Result struct{ Contents []struct{ Blob []byte } }
	}
	err := json.Unmarshal(append(whole, rest[len("kept"):]...), &got)
	if err != nil || len(got.Result.Contents) != 1 || !bytes.Equal(got.Result.Contents[0].Blob, blob) {
		t.Errorf("the parts are not the answer: %v", err)
	}
	if most := 3 << 19; largest > most {
		t.Errorf("a part has %d bytes, want at most %d", largest, most)
	}
}

func TestLongAnswersThatFailAreFollowedByTheError(t *testing.T) {
	core, m := long(t, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob}, make([]byte, 2<<20))
		return nil, errors.Join(err, abi.Errorf(abi.CodeUnavailable, "no more"))
	})
	parts := 0
	rest, failed := core.Answer(t.Context(), nil, m, mcp.ResponseStream{Flush: func([]byte) error { parts++; return nil }})
	if parts == 0 || failed == nil || !json.Valid(rest) || !bytes.Contains(rest, []byte(`"code":503`)) {
		t.Errorf("got %d parts, %v, and %.200s, want the error after them", parts, failed, rest)
	}
}

// Telling of progress and sending parts are both the client's time.
func TestTheTimeOfASlowClientIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited, want time.Duration
		core, m := long(t, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			sink.Progress(abi.Progress{Done: 1})
			err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindBlob}, make([]byte, 1<<20))
			waited = sink.(interface{ Blocked() time.Duration }).Blocked()
			return &abi.Reply{}, err
		})
		_, failed := core.Answer(t.Context(), nil, m, mcp.ResponseStream{
			Notify: func(string, json.RawMessage) error {
				want += 3 * time.Second
				<-time.After(3 * time.Second)
				return nil
			},
			Flush: func([]byte) error { want += time.Second; <-time.After(time.Second); return nil },
		})
		if failed != nil || waited != want {
			t.Errorf("got %v, %v, want %v", waited, failed, want)
		}
	})
}
