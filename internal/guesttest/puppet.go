package guesttest

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Puppet is a tiny guest, in WebAssembly, that does what a test tells it step by step.
type Puppet struct {
	// Manifest is packed into the module.
	Manifest abi.Manifest
	// Next answers step n of an operation. Steps of one call come one after the other, calls at the same time.
	Next func(ctx context.Context, op abi.Op, n int, req *abi.Request) Step
}

// Binary returns the puppet's module.
func (p *Puppet) Binary(tb testing.TB) []byte {
	tb.Helper()
	module, err := os.ReadFile(filepath.Join(sourcetree.Root(), "testdata", "wasm", "puppet.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return appendSection(module, abi.ManifestSection, p.Manifest.Append(nil))
}

// appendSection appends a custom section to a module.
func appendSection(module []byte, name string, content []byte) []byte {
	section := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	section = append(section, content...)
	module = binary.AppendUvarint(append(module, 0), uint64(len(section)))
	return append(module, section...)
}

// Services are the strings of the puppet. Without them it traps.
func (p *Puppet) Services() capability.Services { return capability.Services{abi.ServiceConfig: p} }

// MayRepeat implements [capability.Repeatable].
func (p *Puppet) MayRepeat([]byte) bool { return true }

// Call implements [capability.Service].
func (p *Puppet) Call(ctx context.Context, request []byte) (capability.Response, error) {
	op, n := binary.LittleEndian.Uint32(request), binary.LittleEndian.Uint32(request[4:])
	var req abi.Request
	if err := req.Decode(request[8:]); err != nil {
		return capability.Response{}, err
	}
	return capability.Response{Message: p.Next(ctx, abi.Op(op), int(n), &req).encode()}, nil
}

// A Step is one thing a puppet does.
type Step struct {
	kind, arg, times uint32
	bytes            []byte
}

// Return ends the operation.
func Return(code abi.Code) Step { return Step{arg: uint32(code)} }

// Emit emits one frame, whatever the host answers.
func Emit(frame []byte) Step { return Step{kind: 1, times: 1, bytes: frame} }

// Body pushes bytes of a content, whatever the host answers.
func Body(p []byte) Step { return Step{kind: 2, times: 1, bytes: p} }

// Log logs a text.
func Log(level uint32, text string) Step {
	return Step{kind: 3, arg: level, times: 1, bytes: []byte(text)}
}

// Ask calls a service and ignores the answer.
func Ask(service abi.Service, request []byte) Step {
	return Step{kind: 4, arg: uint32(service), times: 1, bytes: request}
}

// Spin never ends.
func Spin() Step { return Step{kind: 5, times: 1} }

// Trap crashes.
func Trap() Step { return Step{kind: 6, times: 1} }

// Times returns the step n times over.
func (s Step) Times(n uint32) Step {
	s.times = n
	return s
}

func (s Step) encode() []byte {
	b := make([]byte, 0, 12+len(s.bytes))
	for _, n := range []uint32{s.kind, s.arg, s.times} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(b, s.bytes...)
}
