package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

func TestURIsAreKeptOnce(t *testing.T) {
	u := mcp.NewURIs(0)
	long := func() []abi.URI { return []abi.URI{abi.MustParseURI("test://" + strings.Repeat("x", 2000))} }
	one, two := long(), long()
	if u.Take(one) != nil || u.Take(two) != nil || unsafe.StringData(one[0].String()) != unsafe.StringData(two[0].String()) {
		t.Error("one URI is kept twice")
	}
	both := u.Bytes()
	u.Drop(one[0].String())
	if got := u.Bytes(); got == 0 || got < both/2 {
		t.Errorf("%d bytes are counted for one subscription, %d for two", got, both)
	}
	if u.Drop(two[0].String()); u.Bytes() != 0 {
		t.Errorf("%d bytes are counted for none", u.Bytes())
	}
}

func TestURIsAreBounded(t *testing.T) {
	u := mcp.NewURIs(10_000)
	if err := u.Take([]abi.URI{abi.MustParseURI("test://first")}); err != nil {
		t.Fatal(err)
	}
	before := u.Bytes()
	var many []abi.URI
	for i := range 20 {
		many = append(many, abi.MustParseURI(fmt.Sprintf("test://%d", i)))
	}
	if err := u.Take(many); abi.CodeOf(err) != abi.CodeBusy || u.Bytes() != before {
		t.Errorf("%v, %d bytes counted, %d before", err, u.Bytes(), before)
	}
	for range 20 { // which cost little beside the first
		if err := u.Take([]abi.URI{abi.MustParseURI("test://first")}); err != nil {
			t.Fatal(err)
		}
	}
}

// Each stream that names many long URIs takes little, when others name the same, and one too many is refused.
func TestSubscriptionsShareTheirURIs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes much memory")
	}
	var items []string
	for i := range 1024 {
		items = append(items, `"test://`+strings.Repeat("x", 2000)+fmt.Sprintf("%04d", i)+`"`)
	}
	message := func(distinct string) *mcp.Message {
		return heavyMessage(t, `"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[`+
			strings.ReplaceAll(strings.Join(items, ","), "test://", "test://"+distinct)+`]},`)
	}
	uris := mcp.NewURIs(64 << 20)
	core, err := mcp.New(mcp.Config{Source: heavy(), Name: "test", Version: "1", URIs: uris})
	if err != nil {
		t.Fatal(err)
	}
	var open []*mcp.Subscription
	listen := func(distinct string) *mcp.Error {
		s, failure := core.Subscribe(t.Context(), message(distinct), func() {}, func() {})
		if failure == nil {
			s.Append(nil) // the acknowledgment
			open = append(open, s)
		}
		return failure
	}
	before := heapInUse()
	const streams = 10
	for range streams {
		if failure := listen("shared"); failure != nil {
			t.Fatal(failure)
		}
	}
	if each := (heapInUse() - before) / streams; each > 512<<10 {
		t.Errorf("each of %d streams takes %d KiB, with the same 1,024 URIs of 2 KiB", streams, each>>10)
	}
	var failure *mcp.Error
	for i := 0; i < 20 && failure == nil; i++ {
		failure = listen(fmt.Sprint(i))
	}
	if failure == nil || !strings.Contains(string(failure.Data), `"busy"`) {
		t.Errorf("got %v", failure)
	}
	for _, s := range open {
		s.Close()
		s.Close()
	}
	if uris.Bytes() != 0 {
		t.Errorf("%d bytes are counted when all have ended", uris.Bytes())
	}
}
