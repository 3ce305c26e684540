package snapshot

import (
	"fmt"
	"slices"
)

// A Method is a way to find and restorePages what a guest wrote.
type Method uint8

const (
	// Quickest is, in a [Config], the quickest method that works here.
	Quickest Method = iota

	// Watch is Scan where a page may have changed for the first time since the last Reset, and otherwise
	// copies back the same pages as then: see [Memory.BeginTracking].
	Watch

	// Scan asks the kernel, by the ioctl PAGEMAP_SCAN of Linux 6.7, for the pages that are no longer the image's, and
	// copies those few back.
	Scan

	// Pagemap finds the same pages by reading an entry for each page in /proc/self/pagemap.
	Pagemap

	// Drop forgets all private pages, so that the guest meets the image's anew: each costs a page fault when next
	// written.
	Drop

	// Copy copies the whole image. It works on every system and keeps a full private memory for each instance.
	Copy
)

// methods are all of them, from the quickest.
var methods = [...]Method{Watch, Scan, Pagemap, Drop, Copy}

func (m Method) String() string {
	names := [...]string{"quickest", "watch", "scan", "pagemap", "drop", "copy"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// choose gives the method that an image with this configuration uses, or why it cannot.
func choose(wanted Method) (Method, error) {
	if wanted == Quickest {
		best, _ := Probe()
		return best, nil
	}
	at := slices.Index(methods[:], wanted)
	if at < 0 {
		return 0, fmt.Errorf("%v is not a method", wanted)
	}
	if wanted == Method(trusted.Load()) {
		return wanted, nil
	}
	return wanted, verdicts[at]()
}
