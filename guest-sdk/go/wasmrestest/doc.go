// Package wasmrestest lets the tests of a provider run it natively, without WebAssembly and without wasmres:
//
//	func TestGreeting(t *testing.T) {
//		p := wasmrestest.New(t)
//		if got, want := p.Text("greeting://Ada"), "Hello, Ada!"; got != want {
//			t.Errorf("got %q, want %q", got, want)
//		}
//		if _, err := p.Read("greeting://nobody"); !errors.Is(err, wasmres.ErrNotFound) {
//			t.Errorf("got %v, want not found", err)
//		}
//	}
//
// A [Provider] stands for the host: it finds the resource or template for a URI, hands configuration and files out,
// and keeps values, what is written, logs and notices. Like the host it refuses answers that break the rules, as text that is not UTF-8.
//
// Three things differ from the host. Template matching is a small stand-in for the host's, good for levels 1 to 3 of
// RFC 6570 and lists such as {/path*}; the host's own rules decide. URIs are not checked, so that a provider's own
// defences can be tested: the host would refuse "..", control characters and the like before the provider sees them.
// And package variables live on between calls, where the host starts every call afresh.
package wasmrestest
