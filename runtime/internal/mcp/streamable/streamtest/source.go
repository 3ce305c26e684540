package streamtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Source returns a source of a few resources: texts, one that reports progress, and two that fail.
func Source() *mcptest.Source {
	s := mcptest.New()
	s.Text("test://text", "hello")
	s.Text("test://café", "coffee")
	s.Handle(abi.Resource{URI: "test://slow", Name: "slow"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
		sink.Progress(abi.Progress{Done: 1, Total: 2, Message: "half"})
		return &abi.Reply{}, mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte("done"))
	})
	s.Handle(abi.Resource{URI: "test://trap", Name: "trap"}, func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
		return nil, abi.Errorf(abi.CodeTrap, "The provider crashed")
	})
	s.Handle(abi.Resource{URI: "test://panic", Name: "panic"}, func(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
		panic("secret")
	})
	return s
}

// Library returns Source with large resources beside the others, in lists of several pages.
func Library() *mcptest.Source {
	s := Source()
	s.PageSize = 3
	s.Text("test://quote\"d", "q")
	s.Text("test://1m", strings.Repeat("line with \"quotes\" and ünïcode\n", 30_000))
	s.Blob("test://blob", make([]byte, 100_000))
	return s
}

// WatchMuch returns s as many resources as a stream may watch, whose URIs are as long as they may be, and the filter of
// a subscription that names them.
func WatchMuch(s *mcptest.Source) (filter string) {
	uris := make([]string, mcp.MaxWatched)
	for i := range uris {
		uris[i] = fmt.Sprintf("test://%0*d", abi.MaxURI-len("test://"), i)
		s.Text(uris[i], "")
	}
	return `{"resourceSubscriptions":["` + strings.Join(uris, `","`) + `"]}`
}
