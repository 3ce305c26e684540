// Package subscribe reports changes of a guest's resources to those who subscribed to them.
//
// It owns the subscribers of each URI, the calls of the guest for the first and the last of them, the polling, and the
// comparison after a feed has reported a change. Package provider may import it. It calls the guest by functions of its
// Config, and reports to a [github.com/wasmres/wasmres/runtime/resource.Notifier], which cannot block.
package subscribe
