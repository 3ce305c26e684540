package confine

import (
	"fmt"
	"time"
)

// Profile says what a process may do between Enter and Seal, and which limits hold until its end. A limit is never
// raised: where a lower one is inherited, that stays.
type Profile struct {
	// Memory is bytes of address space on top of what is reserved when Enter is called. Zero leaves it as it is.
	Memory uint64
	// CPU is processor time from the start of the process, rounded up to whole seconds, after which the kernel kills
	// it. Zero leaves it as it is.
	CPU time.Duration
	// Threads is how many threads there may be, where the process has a user namespace of its own, in which no other process's
	// are counted, and is not root's outside of it. Zero leaves it.
	Threads uint64
	// Files is how many descriptors may be open, those that are included. Zero means 64.
	Files uint64
	// FileSize is bytes of each file that is written, and of each file in memory. Zero means that none may be.
	FileSize uint64
	// Read names files and folders that may be read. Each must exist.
	Read []string
	// Write names folders in which, and below which, files may be read, made, written, removed and, within one folder,
	// renamed; but no folders be made: who looks after them need not walk what is as deep as can be. A file that it names
	// may be read and written. Each must exist.
	Write []string
	// Database leaves the system calls with which SQLite looks up, locks and maps its files, and no memory that is
	// executed: the process makes no code.
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

// seconds is the processor time in the kernel's unit.
func (p *Profile) seconds() uint64 {
	return uint64((p.CPU + time.Second - 1) / time.Second)
}
