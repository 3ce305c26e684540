package runtime_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

//go:embed testdata/greeting.wasm
var greeting []byte

func ExampleOpen() {
	// main, and TestMain, call runtime.Main first.
	p, err := runtime.Open(context.Background(), "testdata/greeting.wasm", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close() // stops the worker
	contents, err := p.Read(context.Background(), "greeting://World")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contents[0].Text())
	// Output: Hello, World!
}

func ExampleLoad() {
	// greeting is a []byte with a go:embed directive.
	p, err := runtime.Load(context.Background(), greeting, &runtime.Options{
		Limits: runtime.Limits{Memory: 16 << 20, Calls: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	fmt.Println(p.Manifest().Name, p.Manifest().Version)
	fmt.Println(p.Info().Limits.Memory>>20, "MiB,", p.Info().Limits.Timeout)
	// Output:
	// greeting 1.0.0
	// 16 MiB, 2s
}

func ExampleProvider_List() {
	ctx := context.Background()
	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for resource, err := range p.List(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(resource.URI, resource.MIMEType)
	}
	for template, err := range p.Templates(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(template.URITemplate)
	}
	// Output:
	// greeting://about text/plain
	// greeting://{name}
	// note://{file}
}

func ExampleProvider_Read_errors() {
	ctx := context.Background()
	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, uri := range []string{"weather://today", "no URI", "note://plan.txt"} {
		_, err := p.Read(ctx, uri)
		switch abi.CodeOf(err) {
		case abi.CodeNotFound:
			fmt.Println(uri, "does not exist")
		case abi.CodeInvalidParams:
			fmt.Println(uri, "is not a URI")
		default:
			fmt.Println(uri, "failed:", abi.CodeOf(err))
		}
	}
	// Output:
	// weather://today does not exist
	// no URI is not a URI
	// note://plan.txt failed: denied
}

func ExampleProvider_Complete() {
	ctx := context.Background()
	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	names, err := p.Complete(ctx, "greeting://{name}", "name", "A")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(names, " "))
	// Output: Ada Alan
}

func ExampleProvider_Handler() {
	p, err := runtime.Load(context.Background(), greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	mux := http.NewServeMux()
	mux.Handle("/mcp", p.Handler())
	server := httptest.NewServer(mux)
	defer server.Close()

	body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"greeting://Ada","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	request, err := http.NewRequest("POST", server.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read", "Mcp-Name": "greeting://Ada",
	} {
		request.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Result struct{ Contents []struct{ Text string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, answer.Result.Contents[0].Text)
	// Output: 200 Hello, Ada!
}

func ExampleProvider_Subscribe() {
	dir, err := os.MkdirTemp("", "notes-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	plan := filepath.Join(dir, "plan.txt")
	if err := os.WriteFile(plan, []byte("sleep"), 0o600); err != nil {
		log.Fatal(err)
	}
	notes, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/notes", Access: fscap.ReadOnly}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := runtime.Load(ctx, greeting, &runtime.Options{Capabilities: []capability.Capability{notes}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	changes := p.Subscribe(ctx, "note://plan.txt")
	go writeUntil(ctx, plan, "wake up") // as another program would
	for change, err := range changes {
		if err != nil {
			log.Fatal(err)
		}
		contents, err := p.Read(ctx, change.URI)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.URI, "is now:", contents[0].Text())
		break
	}
	// Output: note://plan.txt is now: wake up
}

func ExampleNewHost() {
	host, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	notes, err := fscap.Open([]fscap.Grant{{Host: "testdata", Guest: "/notes", Access: fscap.ReadOnly}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	trusted, err := host.Load(ctx, greeting, &runtime.Options{Name: "trusted", Capabilities: []capability.Capability{notes}})
	if err != nil {
		log.Fatal(err)
	}
	defer trusted.Close()
	stranger, err := host.Load(ctx, greeting, &runtime.Options{Name: "stranger"})
	if err != nil {
		log.Fatal(err)
	}
	defer stranger.Close()
	for _, p := range []*runtime.Provider{trusted, stranger} {
		_, err := p.Read(ctx, "note://greeting.c")
		fmt.Printf("%s: %v\n", p.Name(), abi.CodeOf(err))
	}
	// Output:
	// trusted: ok
	// stranger: denied
}

func ExampleNewServer() {
	ctx := context.Background()
	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	server, err := runtime.NewServer(p.Source(), &runtime.ServerOptions{Tools: true})
	if err != nil {
		log.Fatal(err)
	}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}` + "\n")
	var out bytes.Buffer
	if err := server.ServeStdio(ctx, in, &out); err != nil { // until the input ends
		log.Fatal(err)
	}
	var answer struct {
		Result struct {
			ServerInfo struct{ Name string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Result.ServerInfo.Name)
	// Output: greeting
}

func ExampleServer_Call() {
	ctx := context.Background()
	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	server, err := runtime.NewServer(p.Source(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	result, err := server.Call(ctx, "resources/read", map[string]string{"uri": "greeting://Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result))
	// Output: {"contents":[{"uri":"greeting://Ada","mimeType":"text/plain","text":"Hello, Ada!"}]}
}

func ExampleNewReplaceable() {
	ctx := context.Background()
	current := runtime.NewReplaceable("greeting", "The provider is being built", nil)
	defer current.Close()
	server, err := runtime.NewServer(current.Source(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	read := map[string]string{"uri": "greeting://Ada"}
	_, err = server.Call(ctx, "resources/read", read)
	fmt.Println(err)

	p, err := runtime.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := current.Replace(p); err != nil { // current closes p
		log.Fatal(err)
	}
	_, err = server.Call(ctx, "resources/read", read)
	fmt.Println(err)
	// Output:
	// The provider is being built
	// <nil>
}

func ExampleInspect() {
	info, err := runtime.Inspect(greeting)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Size, "bytes,", info.Digest[:14]+"…", info.Manifest == nil)
	// Output: 18258 bytes, sha256:bce7fc3… true
}

// writeUntil replaces a file again and again until ctx ends, each time with another text, which has one more line end: the
// example subscribes at some moment between.
func writeUntil(ctx context.Context, file, text string) {
	for ; ctx.Err() == nil; text += "\n" {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			return
		}
		_ = os.Rename(file+".new", file)
	}
}
