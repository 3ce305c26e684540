package runtime

import (
	"fmt"
	"os"

	"github.com/wasmres/wasmres/runtime/internal/capacity"
)

// What one live provider needs of the machine, measured and rounded up. A small provider of Go takes 6 MiB of memory, one in
// C 3 MiB: LiveConfig.Memory bounds what larger ones take together.
const (
	eachDescriptors = 9       // in the parent: 7, and 2 of a further call at once
	eachThreads     = 8       // of the worker, with one of the parent
	eachMemory      = 7 << 20 // bytes
)

// serverMemory is what a server takes beside live providers, in bytes: 30 MiB of its own, and 95 MiB for the compilation of a
// large module.
const serverMemory = 128 << 20

// OpenFiles is the CapacityBound.Name of the limit of descriptors.
const OpenFiles = capacity.OpenFiles

// A CapacityBound is a limit of this machine, and how many live providers it allows.
type CapacityBound struct {
	Name      string // of the limit, as in "open files"
	Free      uint64 // what is not used yet: descriptors, threads, namespaces or bytes
	Providers int    // that fit into Free, without what Capacity leaves to others
	IsMemory  bool   // Free is bytes
}

// String returns a short description, as in "open files: 1990 providers (19903 free)".
func (b CapacityBound) String() string {
	return fmt.Sprintf("%s: %d providers (%d free)", b.Name, b.Providers, b.Free)
}

// Capacity returns how many more providers may be live at once on this machine, beside what runs now: the limit that binds
// first, then the others. It knows descriptors, processes, threads, namespaces, the memory of the machine, and processes and
// memory of the control groups of this process. memory is what one provider needs, in bytes; 0 means that of a small provider
// in Go. files is how many descriptors no provider may have, as those of clients. Capacity leaves 128 MiB of memory, or half of
// it, to this process and to compilations. It returns nothing on systems other than Linux, where providers have no processes.
// Providers beyond it may be open: LiveConfig.Max and HostConfig.Idle bound those that are live.
func Capacity(memory, files uint64) []CapacityBound {
	if memory == 0 {
		memory = eachMemory
	}
	var bounds []CapacityBound
	for _, b := range capacity.Bounds(os.DirFS("/"), capacity.Each{
		Descriptors: eachDescriptors, ReservedDescriptors: files, Threads: eachThreads, Memory: memory, ReservedMemory: serverMemory,
	}) {
		bounds = append(bounds, CapacityBound{Name: b.Name, Free: b.Free, Providers: b.Workers, IsMemory: b.IsMemory})
	}
	return bounds
}
