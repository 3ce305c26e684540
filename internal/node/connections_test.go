package node

import (
	"testing"

	"github.com/wasmres/wasmres/runtime"
)

// Clients and providers have the descriptors of this process together, and neither has all.
func TestClientsAndProvidersShareDescriptors(t *testing.T) {
	for _, b := range runtime.Capacity(0, 0) {
		if b.Name != runtime.OpenFiles {
			continue
		}
		for _, listeners := range []int{1, 2, 50} {
			s := splitOf(listeners)
			clients := uint64(s.connections*listeners + s.streams)
			if s.connections < 1 || s.streams < 1 || s.streams > mostConnections || s.connections > mostConnections || clients > b.Free/2 {
				t.Errorf("%d listeners: got %d connections for each, of %d descriptors", listeners, s.connections, b.Free)
			}
			if s.capacity.Providers > b.Providers || s.capacity.Name == runtime.OpenFiles && s.capacity.Free+clients > b.Free+100 {
				t.Errorf("%d listeners: got %v beside %d connections, of %v in all", listeners, s.capacity, clients, b)
			}
		}
		return
	}
	t.Skip("the limit of descriptors is unknown")
}
