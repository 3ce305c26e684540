// Command embed opens a provider, says what it has, reads one resource and serves it at http://127.0.0.1:8090/mcp:
//
//	go run ./examples/embed examples/wasm/hello/hello.wasm greeting://World
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/wasmres/wasmres/runtime"
)

func main() {
	runtime.Main() // this program is also the worker in which the provider runs
	if len(os.Args) != 3 {
		log.Fatal("usage: embed PROVIDER.wasm URI")
	}
	ctx := context.Background()
	p, err := runtime.Open(ctx, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	if err := show(ctx, p, os.Args[2]); err != nil {
		log.Print(err)
		return
	}
	go watch(ctx, p)
	http.Handle("/mcp", p.Handler())
	log.Print(http.ListenAndServe("127.0.0.1:8090", nil))
}

// show prints what the provider has, and one resource.
func show(ctx context.Context, p *runtime.Provider, uri string) error {
	fmt.Println(p.Manifest().Name, p.Manifest().Version, "runs:", p.Info().Isolation)
	for resource, err := range p.List(ctx) {
		if err != nil {
			return err
		}
		fmt.Println("resource", resource.URI)
	}
	for template, err := range p.Templates(ctx) {
		if err != nil {
			return err
		}
		fmt.Println("template", template.URITemplate)
	}
	contents, err := p.Read(ctx, uri)
	if err != nil {
		return err
	}
	for _, content := range contents {
		fmt.Println(content.Text())
	}
	return nil
}

// watch prints when the list of resources has changed.
func watch(ctx context.Context, p *runtime.Provider) {
	for _, err := range p.Subscribe(ctx) {
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println("the list has changed")
	}
}
