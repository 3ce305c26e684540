// Gosdk serves the fixtures with the official Go SDK, as its documentation shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
)

func main() {
	mode := flag.String("mode", "stdio", "stdio, http (with sessions) or stateless; both answer JSON")
	flag.Parse()
	log.Fatal(run(*mode))
}

func run(mode string) error {
	s, err := server()
	if err != nil || mode == "stdio" {
		if err == nil {
			err = s.Run(context.Background(), &mcp.StdioTransport{})
		}
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	options := &mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: mode == "stateless"}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options))
	fmt.Fprintln(os.Stderr, "listening at", l.Addr())
	return http.Serve(l, mux)
}

func server() (*mcp.Server, error) {
	held, err := fixture.Hold()
	if err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, &mcp.ServerOptions{PageSize: fixture.PageSize})
	for _, h := range held {
		s.AddResource(&mcp.Resource{URI: h.URI, Name: h.Name, MIMEType: h.MIME}, handler(h))
	}
	for i := range fixture.Entries - len(held) {
		e := fixture.EntryAt(i)
		s.AddResource(&mcp.Resource{URI: e.URI, Name: e.Name, Description: e.Description, MIMEType: e.MIME}, handler(held[0]))
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: fixture.Template, Name: "item", MIMEType: "text/plain"}, item)
	return s, nil
}

func handler(h fixture.Held) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
		c := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: h.MIME}
		if h.Binary {
			c.Blob, err = h.Bytes()
		} else {
			c.Text, err = h.Text()
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, err
	}
}

func item(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text := fixture.ItemText(strings.TrimPrefix(r.Params.URI, "item://"))
	c := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: text}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}
