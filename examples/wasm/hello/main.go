// Hello is the smallest useful provider: a template, a fixed resource, suggestions for a variable.
package main

import wasmres "github.com/wasmres/wasmres/guest-sdk/go"

func init() {
	wasmres.Provider("hello", "1.0.0").Describe("Greets people.")

	wasmres.Resource("hello://about", about).
		Name("about").
		Describe("What this provider does.").
		MIME("text/markdown")

	wasmres.Template("greeting://{name}", greet).
		Name("greeting").
		Title("Greeting").
		Describe("A greeting for somebody.").
		MIME("text/plain").
		CompleteFrom("name", "Ada", "Alan", "Barbara", "Donald", "Edsger", "Grace")
}

func greet(r *wasmres.Request) (string, error) {
	return "Hello, " + r.Var("name") + "!", nil
}

func about(*wasmres.Request) (string, error) {
	return "# hello\n\nRead `greeting://{name}` to be greeted by name.\n", nil
}

func main() {}
