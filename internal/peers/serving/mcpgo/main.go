// Mcpgo serves the fixtures with mark3labs/mcp-go, as its documentation shows.
package main

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
)

func main() {
	mode := flag.String("mode", "stdio", "stdio, http (with sessions) or stateless")
	flag.Parse()
	log.Fatal(run(*mode))
}

func run(mode string) error {
	s, err := serve()
	if err != nil || mode == "stdio" {
		if err == nil {
			err = server.ServeStdio(s)
		}
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	option := server.WithStateful(true)
	if mode == "stateless" {
		option = server.WithStateLess(true)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, option))
	fmt.Fprintln(os.Stderr, "listening at", l.Addr())
	return http.Serve(l, mux)
}

func serve() (*server.MCPServer, error) {
	held, err := fixture.Hold()
	if err != nil {
		return nil, err
	}
	s := server.NewMCPServer("fixtures", "1",
		server.WithResourceCapabilities(false, false), server.WithPaginationLimit(fixture.PageSize))
	var all []server.ServerResource
	for _, h := range held {
		r := mcp.NewResource(h.URI, h.Name, mcp.WithMIMEType(h.MIME))
		all = append(all, server.ServerResource{Resource: r, Handler: handler(h)})
	}
	for i := range fixture.Entries - len(held) {
		e := fixture.EntryAt(i)
		r := mcp.NewResource(e.URI, e.Name, mcp.WithResourceDescription(e.Description), mcp.WithMIMEType(e.MIME))
		all = append(all, server.ServerResource{Resource: r, Handler: handler(held[0])})
	}
	s.AddResources(all...)
	s.AddResourceTemplate(mcp.NewResourceTemplate(fixture.Template, "item", mcp.WithTemplateMIMEType("text/plain")), item)
	return s, nil
}

func handler(h fixture.Held) server.ResourceHandlerFunc {
	return func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if !h.Binary {
			text, err := h.Text()
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: h.MIME, Text: text}}, err
		}
		b, err := h.Bytes()
		blob := base64.StdEncoding.EncodeToString(b)
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: r.Params.URI, MIMEType: h.MIME, Blob: blob}}, err
	}
}

func item(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	text := fixture.ItemText(strings.TrimPrefix(r.Params.URI, "item://"))
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: text}}, nil
}
