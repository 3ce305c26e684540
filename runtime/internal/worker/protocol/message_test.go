package protocol_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

type decoder interface {
	protocol.Message
	Decode(p []byte) error
}

// empty returns a message of a kind to decode into, or nil when its payload is not made of fields.
func empty(k protocol.Kind) decoder {
	switch k {
	case protocol.KindCall:
		return new(protocol.Call)
	case protocol.KindAnswer:
		return new(protocol.Answer)
	case protocol.KindCredit:
		return new(protocol.Credit)
	case protocol.KindChunk:
		return new(protocol.Chunk)
	case protocol.KindAsk:
		return new(protocol.Ask)
	case protocol.KindLog:
		return new(protocol.Log)
	case protocol.KindDone, protocol.KindFailed:
		return new(protocol.Done)
	case protocol.KindNewLink:
		return new(protocol.NewLink)
	case protocol.KindCancel:
		return new(protocol.Cancel)
	case protocol.KindPause:
		return new(protocol.Pause)
	}
	return nil
}

func messages() map[string]decoder {
	attrs := make([]protocol.Attr, 16)
	for i := range attrs {
		attrs[i] = protocol.Attr{Key: fmt.Sprint("key", i), Value: strings.Repeat("ü", 60)}
	}
	origin := guest.Origin{
		Time: time.Date(2199, 1, 2, 3, 4, 5, 6, time.UTC), Seed: 1<<64 - 1, Stop: &guest.Point{Fuel: 1<<64 - 2, HostCalls: 1<<32 - 1},
	}
	return map[string]decoder{
		"call":         &protocol.Call{Op: abi.OpRead, Timeout: time.Minute, Session: "stdio", Request: []byte("request")},
		"longest call": &protocol.Call{Origin: origin, Session: strings.Repeat("s", protocol.MaxSession), Request: make([]byte, abi.MaxRequest)},
		"patient call": &protocol.Call{Origin: guest.Origin{Patient: true}, Request: []byte{}},
		"answer":       &protocol.Answer{Code: abi.CodeDenied, BodySize: protocol.MaxAnswerBody, Blocked: 7, Message: []byte("message")},
		"credit":       &protocol.Credit{Bytes: 1<<32 - 1},
		"chunk":        &protocol.Chunk{Offset: 1<<32 - 1, Length: 1},
		"ask":          &protocol.Ask{Service: abi.ServiceFileRead, Request: make([]byte, abi.MaxService)},
		"log":          &protocol.Log{Level: -4, Message: "said", Attrs: attrs},
		"done": &protocol.Done{
			Code: abi.CodeUnavailable, RetryAfter: 24 * time.Hour, Fuel: 1<<64 - 1, HostCalls: 1<<32 - 1, Memory: 1<<64 - 1,
			Message: strings.Repeat("m", 1<<10), Data: strings.Repeat("d", 16<<10), Cause: strings.Repeat("c", 2<<10),
			Stack: slices.Repeat([]uint32{1<<32 - 1}, 32),
		},
		"new link": &protocol.NewLink{ID: 7},
		"cancel":   &protocol.Cancel{Link: 1, Seq: 2},
	}
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for name, m := range messages() {
		t.Run(name, func(t *testing.T) {
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			got := empty(m.Kind())
			if err := got.Decode(m.Append(nil)); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Errorf("got %v, want %v", got, m)
			}
		})
	}
}

// Cut anywhere, or with a byte too many, a message of fixed size is refused, and others never come out the same.
func TestMessagesThatAreCutAreRefused(t *testing.T) {
	for name, m := range messages() {
		t.Run(name, func(t *testing.T) {
			whole := m.Append(nil)
			for n := range min(len(whole), 30) {
				got := empty(m.Kind())
				if err := got.Decode(whole[:n]); err == nil && !bytes.Equal(got.Append(nil), whole[:n]) {
					t.Errorf("%d of %d bytes: decoded as %v", n, len(whole), got)
				} else if err != nil && !errors.Is(err, protocol.ErrViolation) {
					t.Errorf("%d bytes: got %v, want a breach of the protocol", n, err)
				}
			}
			if name != "answer" && m.Kind() != protocol.KindCall && empty(m.Kind()).Decode(append(whole, 0)) == nil {
				t.Error("a byte too many was accepted")
			}
		})
	}
}

func TestDecodersRefuse(t *testing.T) {
	done := func(at int, b ...byte) []byte {
		p := (&protocol.Done{Message: "abc"}).Append(nil)
		copy(p[at:], b)
		return p
	}
	for name, c := range map[string]struct {
		kind    protocol.Kind
		payload []byte
	}{
		"session that is too long":   {protocol.KindCall, append((&protocol.Call{}).Append(nil)[:13], append([]byte{1, 1, 0, 0}, make([]byte, 257)...)...)},
		"session beyond the payload": {protocol.KindCall, append((&protocol.Call{}).Append(nil)[:13], 255, 255, 255, 255)},
		"negative timeout":           {protocol.KindCall, (&protocol.Call{Timeout: -1}).Append(nil)},
		"request that is too long":   {protocol.KindCall, (&protocol.Call{Request: make([]byte, abi.MaxRequest+1)}).Append(nil)},
		"body that is too long":      {protocol.KindAnswer, (&protocol.Answer{BodySize: protocol.MaxAnswerBody + 1}).Append(nil)},
		"retry in years":             {protocol.KindDone, done(4, 255, 255, 255, 255)},
		"message beyond the payload": {protocol.KindDone, done(28, 255, 3)},
		"message that is too short":  {protocol.KindDone, done(28, 2, 0)},
		"message that is not text":   {protocol.KindDone, done(36, 0xff)},
		"17 attributes":              {protocol.KindLog, append([]byte{0, 17, 0, 0}, make([]byte, 17*4)...)},
		"attributes that lack":       {protocol.KindLog, []byte{0, 16, 0, 0}},
		"attribute that lacks":       {protocol.KindLog, []byte{0, 1, 0, 0, 1, 0, 255, 255, 'k'}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := empty(c.kind).Decode(c.payload); !errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v, want a breach of the protocol", err)
			}
		})
	}
}

func TestWhatIsForPeopleIsCut(t *testing.T) {
	long := strings.Repeat("a€", 8<<10) // characters that a cut may split
	for name, m := range map[string]decoder{
		"done":       &protocol.Done{Message: long, Cause: long, Data: long, RetryAfter: 1 << 62},
		"not text":   &protocol.Done{Message: "\xff", Cause: long[1:3], Data: "\x80"},
		"log":        &protocol.Log{Level: 1000, Message: long, Attrs: []protocol.Attr{{Key: long, Value: long}, {Key: long, Value: long}}},
		"attributes": &protocol.Log{Level: -1000, Attrs: make([]protocol.Attr, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			p := m.Append(nil)
			got := empty(m.Kind())
			if err := got.Decode(p); err != nil {
				t.Fatal(err)
			}
			if again := got.Append(nil); !bytes.Equal(again, p) {
				t.Errorf("got %x, want %x", again, p)
			}
		})
	}
}

func TestDoneCarriesErrors(t *testing.T) {
	cause := errors.New("disk on fire")
	for name, c := range map[string]struct {
		err  error
		want protocol.Done
	}{
		"none":  {nil, protocol.Done{}},
		"plain": {cause, protocol.Done{Code: abi.CodeInternal, Cause: "disk on fire"}},
		"abi": {
			fmt.Errorf("read: %w", &abi.Error{Code: abi.CodeBusy, Message: "busy", Data: "{}", RetryAfter: time.Second, Cause: cause}),
			protocol.Done{Code: abi.CodeBusy, Message: "busy", Data: "{}", RetryAfter: time.Second, Cause: "disk on fire"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := protocol.Done{Message: "of the last call", Stack: []uint32{1}}
			got.SetError(c.err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[protocol.Kind]string{0: "kind_0", protocol.KindCall: "call", protocol.KindNewLink: "new_link", 15: "kind_15", 255: "kind_255"} {
		if got := kind.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzDecode holds every decoder to this: what it accepts, Append makes again byte by byte.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		if p := m.Append(nil); len(p) < 8<<10 {
			f.Add(byte(m.Kind()), p)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, p []byte) { decodes(t, protocol.Kind(kind), p) })
}

func decodes(t *testing.T, kind protocol.Kind, p []byte) {
	t.Helper()
	m := empty(kind)
	if m == nil {
		return
	}
	switch err := m.Decode(p); {
	case err != nil && !errors.Is(err, protocol.ErrViolation):
		t.Fatalf("%v: got %v, want a breach of the protocol", kind, err)
	case err == nil && m.Check() != nil:
		t.Fatalf("%v: decoded what cannot be sent: %v", kind, m.Check())
	case err == nil && !bytes.Equal(m.Append(nil), p):
		t.Fatalf("%v: %x was decoded as %+v, which is %x", kind, p, m, m.Append(nil))
	}
}
