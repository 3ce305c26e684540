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
// It matches URIs against templates with the host's own code. Two things differ from the host. URIs are not checked, so
// that a provider's own defences can be tested: dot segments, control characters, spaces and the like, which the host
// refuses before the provider sees them, arrive in the variables. And package variables live on between calls, where
// the host starts every call afresh.
package wasmrestest
