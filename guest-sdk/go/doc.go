// Package wasmres is the guest SDK for providers of MCP resources that run in wasmres, a sandbox for WebAssembly.
//
// A provider is a program that registers handlers in init and has an empty main:
//
//	package main
//
//	import wasmres "github.com/wasmres/wasmres/guest-sdk/go"
//
//	func init() {
//		wasmres.Provider("notes", "1.0.0").Describe("Notes and who wrote them.")
//
//		wasmres.Resource("notes://readme", readme).
//			MIME("text/markdown")
//
//		wasmres.Template("notes://by/{author}/{id}", note).
//			Name("note").
//			MIME("text/plain").
//			Complete("author", authors)
//
//		wasmres.List(list)
//	}
//
//	func readme(*wasmres.Request) (string, error) { return "# Notes", nil }
//
//	func note(r *wasmres.Request) (string, error) {
//		id, err := r.Int("id")
//		if err != nil {
//			return "", err
//		}
//		text, ok := notes[r.Var("author")][id]
//		if !ok {
//			return "", wasmres.NotFound("no such note by " + r.Var("author"))
//		}
//		return text, nil
//	}
//
//	func authors(r *wasmres.Request, prefix string) ([]string, error) { … }
//
//	func list(r *wasmres.Request, page *wasmres.Page) error { … }
//
//	func main() {}
//
// It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o notes.wasm .
//
// and tested natively, with go test and package wasmrestest.
//
// # What a handler answers
//
// A string is text, a []byte is binary; a [Content] says more about itself, and a slice of them answers several at
// once. [Stream] sends what an [io.Reader] gives without holding it in memory. JSON-RPC, base64 and the matching of URIs
// are the host's business.
//
// # What a handler may rely on
//
// Every request starts from the state that init functions, and those registered with [Warm], have left: what a handler
// keeps in package variables is gone at the next request. Work worth doing once belongs there. Randomness drawn there is
// the same in every request, and so are the seeds of maps; crypto/rand is always fresh. One request runs at a time. What
// is to last is kept with [KV], or written with [Directory.WriteFile].
//
// A panic ends the instance and the client learns no more than that; so does an error that is not an [Error], whose
// text goes to the log. Nothing is granted unless the operator says so: see [Ask], [Dir], [HTTP], [Query], [KV],
// [Request.Config], [Request.Env].
package wasmres
