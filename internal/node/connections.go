package node

import "github.com/wasmres/wasmres/runtime"

// mostConnections is how many connections clients may have at once on one listener, where there are descriptors for them.
const mostConnections = 10_000

// A provider that is being opened takes as much memory as openingSize live ones. mostOpenings bounds how many are opened at once, however
// much memory there is.
const (
	openingSize  = 3
	mostOpenings = 16
)

// A split is how the descriptors of this process are shared out: a client must not take those with which providers start,
// nor live providers those of clients.
type split struct {
	connections int // of clients but for streams, on each listener; zero if the limit of descriptors is unknown
	streams     int // of all clients; likewise
	capacity    runtime.CapacityBound
	openings    int   // providers that are opened at once; zero for the default of [runtime.HostConfig]
	memory      int64 // of the processes of providers, of compilations and openings, in bytes; zero if unknown
}

// splitOf leaves a quarter of the free memory to this process, to standby processes, and to providers that grow. It gives clients on so
// many listeners at most half of the descriptors that are free.
func splitOf(listeners int) (s split) {
	reserved := 0
	for _, b := range runtime.Capacity(0, 0) {
		if b.Name == runtime.OpenFiles {
			s.connections = int(min(mostConnections, b.Free*3/8/uint64(max(listeners, 1))))
			s.streams = int(min(mostConnections, b.Free/8))
			reserved = s.connections*listeners + s.streams
		}
	}
	bounds := runtime.Capacity(0, uint64(reserved))
	for _, b := range bounds {
		if b.IsMemory && (s.memory == 0 || int64(b.Free/4*3) < s.memory) {
			s.memory = max(int64(b.Free/4*3), 1)
		}
	}
	if len(bounds) > 0 {
		s.capacity = bounds[0]
		s.openings = min(max(s.capacity.Providers/openingSize, 2), mostOpenings)
	}
	return s
}
