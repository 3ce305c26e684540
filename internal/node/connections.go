package node

import "github.com/wasmres/wasmres/runtime"

// mostConnections is how many connections clients may have at once on one listener, without those of streams, and how many streams, where
// there are descriptors for them.
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
	shared   int // descriptors for connections, and for providers, which connections give them back; zero if their limit is unknown
	streams  int // of all clients; likewise
	capacity runtime.CapacityBound
	openings int   // providers that are opened at once; zero for the default of [runtime.HostConfig]
	memory   int64 // of the processes of providers, of compilations and openings, in bytes; zero if unknown
}

// splitOf leaves a quarter of the free memory to this process, to standby processes, and to providers that grow. Of the free descriptors it
// leaves a 32nd to files, to what capabilities connect to, and to standby processes. Live providers may use half of the others, with at most
// as many connections as there may be on so many listeners, and streams, beside them; connections may use what they do not use.
func splitOf(listeners int) (s split) {
	clients := 0
	for _, b := range runtime.Capacity(0, 0) {
		if b.Name == runtime.OpenFiles {
			s.shared = int(b.Free - b.Free/32)
			s.streams = min(mostConnections, s.shared/8)
			clients = min(mostConnections*max(listeners, 1)+s.streams, s.shared/2)
		}
	}
	bounds := runtime.Capacity(0, uint64(clients))
	for _, b := range bounds {
		if b.IsMemory && (s.memory == 0 || int64(b.Free/4*3) < s.memory) {
			s.memory = max(int64(b.Free/4*3), 1)
		}
	}
	if len(bounds) > 0 {
		s.capacity = bounds[0]
		s.capacity.Providers = max(s.capacity.Providers, 1) // one may start where there is little memory; zero would bound nothing
		s.openings = min(max(s.capacity.Providers/openingSize, 2), mostOpenings)
	}
	return s
}
