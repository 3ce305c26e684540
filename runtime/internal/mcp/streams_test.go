package mcp_test

import (
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A client that holds all streams gives places to others, until none has many more than another.
func TestStreamsAreSharedFairly(t *testing.T) {
	core := newCore(t, mcp.Config{Source: newSource(), MaxSubscriptions: 10})
	var ended []string
	open := func(client string, n int) (leave func(), ok bool) {
		name := fmt.Sprint(client, n)
		leave, failure := core.OpenStream(t.Context(), client, func() { ended = append(ended, name) })
		if failure != nil && (failure.Code != 429 || string(failure.Data) != `{"code":"busy"}`) {
			t.Errorf("%s: got %+v", name, failure)
		}
		return leave, failure == nil
	}
	var leaves []func()
	for i := range 12 {
		leave, ok := open("greedy", i)
		if ok != (i < 10) {
			t.Fatalf("stream %d of one client: got %v", i, ok)
		}
		leaves = append(leaves, leave)
	}
	for i := range 6 {
		if _, ok := open("honest", i); ok != (i < 5) {
			t.Errorf("stream %d of another client: got %v", i, ok)
		}
	}
	if got, want := fmt.Sprint(ended), "[greedy0 greedy1 greedy2 greedy3 greedy4]"; got != want {
		t.Errorf("ended %s, want the oldest of the client of most: %s", got, want)
	}
	leaves[0]() // its place has gone: nothing is given back
	if _, ok := open("greedy", 12); ok {
		t.Error("a place that had gone to another was given back")
	}
	leaves[7]()
	leaves[7]()
	if _, ok := open("third", 0); !ok || len(ended) != 5 {
		t.Error("a place that was given back is not free")
	}
	if _, ok := open("third", 1); !ok || len(ended) != 6 {
		t.Error("a client of one stream gets no second")
	}
}

func BenchmarkStreams(b *testing.B) {
	core, err := mcp.New(mcp.Config{Source: newSource(), Name: "test", Version: "1", MaxSubscriptions: 10_000})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		if _, failure := core.OpenStream(b.Context(), fmt.Sprint(i%100), func() {}); failure != nil {
			b.Fatal(failure)
		}
	}
	for i := 0; b.Loop(); i++ { // each takes the place of another's
		leave, failure := core.OpenStream(b.Context(), fmt.Sprint("new", i), func() {})
		if failure == nil {
			leave()
			_, _ = core.OpenStream(b.Context(), fmt.Sprint(i%100), func() {})
		}
	}
}
