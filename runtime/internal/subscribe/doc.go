// Package subscribe reports changes of a guest's resources to those who subscribed to them.
//
// It owns which URIs have subscribers, when the guest is told of the first and the last of them, how often it is polled,
// and what is compared after a feed has reported a change. Package provider may import it. It starts no guest: it calls
// one by functions of its Config, and it delivers to a [github.com/wasmres/wasmres/runtime/resource.Notifier], which
// cannot block.
package subscribe
