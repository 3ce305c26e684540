package wire_test

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
	"github.com/wasmres/wasmres/internal/worker/wire"
)

type decoder interface {
	wire.Message
	Decode(p []byte) error
}

// empty gives a message of a kind to decode into, or nil when its payload is not made of fields.
func empty(k wire.Kind) decoder {
	switch k {
	case wire.KindCall:
		return new(wire.Call)
	case wire.KindAnswer:
		return new(wire.Answer)
	case wire.KindCredit:
		return new(wire.Credit)
	case wire.KindChunk:
		return new(wire.Chunk)
	case wire.KindAsk:
		return new(wire.Ask)
	case wire.KindLog:
		return new(wire.Log)
	case wire.KindDone, wire.KindFailed:
		return new(wire.Done)
	case wire.KindNewLink:
		return new(wire.NewLink)
	case wire.KindCancel:
		return new(wire.Cancel)
	}
	return nil
}

func messages() map[string]decoder {
	attrs := make([]wire.Attr, 16)
	for i := range attrs {
		attrs[i] = wire.Attr{Key: fmt.Sprint("key", i), Value: strings.Repeat("ü", 60)}
	}
	return map[string]decoder{
		"call":         &wire.Call{Op: abi.OpRead, Timeout: time.Minute, Session: "stdio", Request: []byte("request")},
		"longest call": &wire.Call{Session: strings.Repeat("s", wire.MaxSession), Request: make([]byte, abi.MaxRequest)},
		"answer":       &wire.Answer{Code: abi.CodeDenied, BodySize: wire.MaxAnswerBody, Waited: 7, Message: []byte("message")},
		"credit":       &wire.Credit{Bytes: 1<<32 - 1},
		"chunk":        &wire.Chunk{Offset: 1<<32 - 1, Length: 1},
		"ask":          &wire.Ask{Service: abi.ServiceFileRead, Request: make([]byte, abi.MaxService)},
		"log":          &wire.Log{Level: -4, Message: "said", Attrs: attrs},
		"done": &wire.Done{
			Code: abi.CodeUnavailable, RetryAfter: 24 * time.Hour, Fuel: 1<<64 - 1, HostCalls: 1<<32 - 1,
			Message: strings.Repeat("m", 1<<10), Data: strings.Repeat("d", 16<<10), Cause: strings.Repeat("c", 2<<10),
			Stack: slices.Repeat([]uint32{1<<32 - 1}, 32),
		},
		"new link": &wire.NewLink{ID: 7},
		"cancel":   &wire.Cancel{Link: 1, Seq: 2},
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
				} else if err != nil && !errors.Is(err, wire.ErrProtocol) {
					t.Errorf("%d bytes: got %v, want a breach of the protocol", n, err)
				}
			}
			if name != "answer" && name != "call" && empty(m.Kind()).Decode(append(whole, 0)) == nil {
				t.Error("a byte too many was accepted")
			}
		})
	}
}

func TestDecodersRefuse(t *testing.T) {
	done := func(at int, b ...byte) []byte {
		p := (&wire.Done{Message: "abc"}).Append(nil)
		copy(p[at:], b)
		return p
	}
	for name, c := range map[string]struct {
		kind    wire.Kind
		payload []byte
	}{
		"session that is too long":   {wire.KindCall, append((&wire.Call{}).Append(nil)[:12], append([]byte{1, 1, 0, 0}, make([]byte, 257)...)...)},
		"session beyond the payload": {wire.KindCall, append((&wire.Call{}).Append(nil)[:12], 255, 255, 255, 255)},
		"negative timeout":           {wire.KindCall, (&wire.Call{Timeout: -1}).Append(nil)},
		"request that is too long":   {wire.KindCall, (&wire.Call{Request: make([]byte, abi.MaxRequest+1)}).Append(nil)},
		"body that is too long":      {wire.KindAnswer, (&wire.Answer{BodySize: wire.MaxAnswerBody + 1}).Append(nil)},
		"retry in years":             {wire.KindDone, done(4, 255, 255, 255, 255)},
		"message beyond the payload": {wire.KindDone, done(20, 255, 3)},
		"message that is too short":  {wire.KindDone, done(20, 2, 0)},
		"message that is not text":   {wire.KindDone, done(26, 0xff)},
		"17 attributes":              {wire.KindLog, append([]byte{0, 17, 0, 0}, make([]byte, 17*4)...)},
		"attributes that lack":       {wire.KindLog, []byte{0, 16, 0, 0}},
		"attribute that lacks":       {wire.KindLog, []byte{0, 1, 0, 0, 1, 0, 255, 255, 'k'}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := empty(c.kind).Decode(c.payload); !errors.Is(err, wire.ErrProtocol) {
				t.Errorf("got %v, want a breach of the protocol", err)
			}
		})
	}
}

func TestWhatIsForPeopleIsCut(t *testing.T) {
	long := strings.Repeat("a€", 8<<10) // characters that a cut may split
	for name, m := range map[string]decoder{
		"done":       &wire.Done{Message: long, Cause: long, Data: long, RetryAfter: 1 << 62},
		"not text":   &wire.Done{Message: "\xff", Cause: long[1:3], Data: "\x80"},
		"log":        &wire.Log{Level: 1000, Message: long, Attrs: []wire.Attr{{Key: long, Value: long}, {Key: long, Value: long}}},
		"attributes": &wire.Log{Level: -1000, Attrs: make([]wire.Attr, 100)},
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
		want wire.Done
	}{
		"none":  {nil, wire.Done{}},
		"plain": {cause, wire.Done{Code: abi.CodeInternal, Cause: "disk on fire"}},
		"abi": {
			fmt.Errorf("read: %w", &abi.Error{Code: abi.CodeBusy, Message: "busy", Data: "{}", RetryAfter: time.Second, Cause: cause}),
			wire.Done{Code: abi.CodeBusy, Message: "busy", Data: "{}", RetryAfter: time.Second, Cause: "disk on fire"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := wire.Done{Message: "of the last call", Stack: []uint32{1}}
			got.SetError(c.err)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			var again wire.Done
			if again.SetError(got.Err()); !reflect.DeepEqual(again, c.want) {
				t.Errorf("after Err got %+v, want %+v", again, c.want)
			}
		})
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[wire.Kind]string{0: "kind_0", wire.KindCall: "call", wire.KindNewLink: "new_link", 15: "kind_15", 255: "kind_255"} {
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
	f.Fuzz(func(t *testing.T, kind byte, p []byte) { decodes(t, wire.Kind(kind), p) })
}

func decodes(t *testing.T, kind wire.Kind, p []byte) {
	t.Helper()
	m := empty(kind)
	if m == nil {
		return
	}
	switch err := m.Decode(p); {
	case err != nil && !errors.Is(err, wire.ErrProtocol):
		t.Fatalf("%v: got %v, want a breach of the protocol", kind, err)
	case err == nil && m.Check() != nil:
		t.Fatalf("%v: decoded what cannot be sent: %v", kind, m.Check())
	case err == nil && !bytes.Equal(m.Append(nil), p):
		t.Fatalf("%v: %x was decoded as %+v, which is %x", kind, p, m, m.Append(nil))
	}
}
