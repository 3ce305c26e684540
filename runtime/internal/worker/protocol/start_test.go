package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// FuzzStartRequest finds that a start request stays what it is when it is written and read, and that a time which guests
// cannot see is refused.
func FuzzStartRequest(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"limits":{"Calls":4},"services":[1,12],"determinism":{"time":"2026-11-22T07:00:00.5+02:00","seed":18446744073709551615}}`,
		`{"determinism":{"seed":-1}}`, `{"determinism":{"time":"9999-12-31T23:59:59Z"}}`, `{"determinism":{}}`, `{"determinism":null}`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second protocol.StartRequest
		if json.Unmarshal(text, &first) != nil {
			return
		}
		once, err := json.Marshal(&first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(once, &second); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&second)
		if err != nil || !bytes.Equal(once, again) {
			t.Fatalf("got %s, then %s, %v", once, again, err)
		}
		d, same := first.Clock, second.Clock
		if d == nil || d.Check() != nil {
			return
		}
		if year := d.Time.UTC().Year(); year < 1971 || year > 2199 || !d.Time.Equal(same.Time) || d.Seed != same.Seed {
			t.Errorf("got %+v, then %+v", d, same)
		}
	})
}

// TestAReadyMessageHasNoManifestOfAnImage finds that a worker cannot have its parent keep what the parent knows itself.
func TestAReadyMessageHasNoManifestOfAnImage(t *testing.T) {
	var m protocol.ReadyMessage
	text, err := json.Marshal(protocol.ReadyMessage{Info: guest.Info{
		Reset: guest.ResetInPlace, State: &guest.ImageState{Globals: []uint64{1}, Manifest: make([]byte, 700<<10)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Decode(text); err != nil || m.State == nil || len(m.State.Manifest) != 0 || len(m.State.Globals) != 1 {
		t.Errorf("got %.64q, %v", fmt.Sprint(m.State), err)
	}
}
