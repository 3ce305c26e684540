package confine

import (
	"fmt"
	"time"
)

// A Profile says what a process may do between Enter and Seal, and which limits hold until its end. Enter never raises
// an inherited limit.
type Profile struct {
	// Memory is how much address space the process may reserve after Enter, in bytes. Zero sets no limit.
	Memory uint64
	// Data is how much private memory that can be written the process may have beyond that at Enter, in bytes. Zero sets no
	// limit. It is for a process that reserves most of Memory and never writes there.
	Data uint64
	// CPU is the processor time from the start of the process, rounded up to whole seconds, after which the kernel
	// kills it. Zero sets no limit.
	CPU time.Duration
	// Threads bounds the threads. It needs a user namespace of the process's own, where the kernel counts only its
	// threads, and a user that is not root outside of it. Zero sets no limit.
	Threads uint64
	// Files bounds the open descriptors, including those open at Enter. Zero means 64.
	Files uint64
	// FileSize bounds each file that is written and each file in memory, in bytes. Zero means that the process may
	// write none.
	FileSize uint64
	// Read names files and directories that the process may read. Each must exist.
	Read []string
	// Write names directories in which, and below which, the process may read, make, write, remove and, within one
	// directory, rename files. It may not make directories, so that a cleanup need not walk a deep tree. A named file
	// may be read and written. Each must exist.
	Write []string
	// Database allows the system calls with which SQLite looks up, locks and maps its files, and no executable memory:
	// the process makes no code.
	Database bool
}

const defaultFiles = 64

func (p *Profile) fill() error {
	if p.CPU < 0 {
		return fmt.Errorf("processor time of %v: it must not be negative", p.CPU)
	}
	if p.Files == 0 {
		p.Files = defaultFiles
	}
	return nil
}

// seconds returns the processor time in the kernel's unit.
func (p *Profile) seconds() uint64 {
	return uint64((p.CPU + time.Second - 1) / time.Second)
}
