package guest

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// MayRepeat reports whether the call may be repeated in another instance after this request of the guest. A notice may
// be repeated, and a service that is not granted does nothing.
func (c *Call) MayRepeat(id abi.Service, request []byte) bool {
	if id == abi.ServiceNotifyUpdated || id == abi.ServiceNotifyList {
		return true
	}
	granted, ok := c.host.granted[id]
	if !ok {
		return true
	}
	r, ok := granted.service.(capability.Repeatable)
	return ok && r.MayRepeat(request)
}
