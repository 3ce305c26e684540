package wasmres

import (
	"strings"
	"testing"
)

// signaller is a host that answers signals, in turn, and remembers what it was handed.
type signaller struct {
	recorder
	signals []int32
	emitted []string
	pushed  int
}

func (h *signaller) next() (signal int32) {
	if len(h.signals) > 0 {
		signal, h.signals = h.signals[0], h.signals[1:]
	}
	return signal
}

func (h *signaller) Emit(frame []byte) int32 {
	h.emitted = append(h.emitted, string(frame))
	return h.next()
}

func (h *signaller) Body(p []byte) int32 {
	h.pushed += len(p)
	return h.next()
}

func TestSignalsEndAStream(t *testing.T) {
	t.Cleanup(Reset)
	for _, c := range []struct {
		signal int32
		code   uint32
	}{
		{signalEnough, codeOK}, {signalCancelled, codeCancelled}, {signalDeadline, codeDeadline},
		{signalTooLarge, codeTooLarge}, {signalBadFrame, codeInternal},
	} {
		Reset()
		Resource("t://a", func(*Request) (Content, error) { return Stream(endless{}, -1), nil })
		h := &signaller{signals: []int32{signalMore, signalMore, c.signal}}
		h.answer = []byte("\x0a\x05t://a")
		done := use(h)
		code := serve(opRead, uint32(len(h.answer)))
		done()
		if code != c.code || h.pushed != 2*len(chunk) || len(h.emitted) != 1 {
			t.Errorf("signal %d: got code %d, %d bytes, %d frames, want code %d, %d, 1", c.signal, code, h.pushed, len(h.emitted), c.code, 2*len(chunk))
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAFullPageStillTellsWhereToGoOn(t *testing.T) {
	Reset()
	t.Cleanup(Reset)
	List(func(_ *Request, page *Page) error {
		return page.Each(1000, func(int) Entry { return Entry{URI: "t://" + strings.Repeat("x", 1000)} })
	})
	h := &signaller{signals: []int32{signalEnough}}
	defer use(h)()
	if code := serve(opList, 0); code != codeOK {
		t.Errorf("got code %d", code)
	}
	if len(h.emitted) != 2 || len(h.emitted[0]) < flushAt || h.emitted[1] != "\x22\x015" {
		t.Errorf("got %d frames, the last %q", len(h.emitted), h.emitted[len(h.emitted)-1])
	}
}
