package link_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

func FuzzParent(f *testing.F) {
	head := protocoltest.Raw{K: protocol.KindFrame, Payload: (&abi.Content{URI: "x:o", Kind: abi.KindBlob}).Append(nil)}
	text := protocoltest.Raw{K: protocol.KindFrame, Payload: (&abi.Content{URI: "x:o", Kind: abi.KindText, Inline: []byte("fine")}).Append(nil)}
	page := protocoltest.Raw{K: protocol.KindFrame, Payload: (&abi.Reply{Resources: []abi.Resource{{URI: "x:o", Name: "o"}}, NextCursor: "c"}).Append(nil)}
	change := protocoltest.Raw{K: protocol.KindSwitch}
	for _, seed := range [][]byte{
		nil, protocoltest.Seed(text, &protocol.Done{}), protocoltest.Seed(head, protocoltest.Raw{K: protocol.KindBody, Payload: make([]byte, 1000)}, &protocol.Chunk{Length: 5000}, &protocol.Chunk{Offset: 5000, Length: 60000}, &protocol.Done{}),
		protocoltest.Seed(page, page, &protocol.Done{Fuel: 1 << 60}), protocoltest.Seed(&protocol.Ask{Service: abi.ServiceConfig, Request: []byte("\n\x03key")}, &protocol.Ask{Service: abi.ServiceNotifyUpdated}, &protocol.Done{}),
		protocoltest.Seed(protocoltest.Raw{K: protocol.KindChanged, Payload: []byte("x:c")}, protocoltest.Raw{K: protocol.KindChanged, Payload: nil}, &protocol.Log{Message: "m", Attrs: []protocol.Attr{{Key: "k", Value: "v"}}}, &protocol.Done{Code: abi.CodeTrap, Message: "m", Data: "{}", Cause: "c"}),
		protocoltest.Seed(&protocol.Done{Code: 77}), protocoltest.Seed(head, &protocol.Done{}, &protocol.Done{}), protocoltest.Seed(&protocol.Call{}), protocoltest.Seed(&protocol.Answer{}), protocoltest.Seed(&protocol.Credit{Bytes: 1}),
		protocoltest.Seed(change), protocoltest.Seed(change, change, &protocol.Done{}), protocoltest.Seed(head, change, head, &protocol.Done{}),
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(protocoltest.Messages(seed, 0), uint8(2))
	}
	const output, items = 1 << 20, 100
	var said []byte
	asMessages, number := false, uint64(0)
	parent := &link.Parent{Say: func(socket *os.File, call uint64) {
		switch {
		case !asMessages:
			protocoltest.Exchange(socket, said)
		case number == 0:
			protocoltest.Exchange(socket, protocoltest.Messages(said, call))
		default:
			protocoltest.Exchange(socket, protocoltest.Messages(said, number))
		}
	}}
	m := load(f, parent, provider.Config{
		Services: capability.Services{abi.ServiceConfig: capability.Config{"key": "value"}}, Limits: limits.Limits{Output: output, Items: items, Timeout: patience},
	}, 1<<abi.OpRead|1<<abi.OpList)
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		defer hangs()()
		op := abi.OpRead
		if how&1 != 0 {
			op = abi.OpList
		}
		said, asMessages, number = b, how&2 == 0, uint64(how>>2) // of another call, unless it is 0
		var got sink
		reply, err := m.Call(t.Context(), op, &abi.Request{URI: "x:o"}, &got)
		if got.size > output || len(got.heads) > items {
			t.Errorf("got %d bytes in %d contents", got.size, len(got.heads))
		}
		if err == nil && (op == abi.OpRead && len(got.heads) == 0 || len(reply.Resources) > items) {
			t.Errorf("got %d contents, %d entries", len(got.heads), len(reply.Resources))
		}
		if err != nil && len(err.Error()) > 8<<10 {
			t.Errorf("got an error of %d bytes", len(err.Error()))
		}
		if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(cause.Error(), "panic: ") {
			t.Error(cause)
		}
	})
}
