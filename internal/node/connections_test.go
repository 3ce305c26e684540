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
			if s.shared < 1 || s.streams < 1 || s.streams > mostConnections || uint64(s.shared) >= b.Free {
				t.Errorf("%d listeners: got %d files for clients and providers, %d of them for streams, of %d", listeners, s.shared, s.streams, b.Free)
			}
			if s.capacity.Providers > b.Providers || s.capacity.Name == runtime.OpenFiles && s.capacity.Free > b.Free*6/10 {
				t.Errorf("%d listeners: got %v beside clients, of %v in all", listeners, s.capacity, b)
			}
		}
		return
	}
	t.Skip("the limit of descriptors is unknown")
}
