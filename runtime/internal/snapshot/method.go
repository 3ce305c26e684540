package snapshot

import (
	"fmt"
	"slices"
)

// A Method is a way to find the pages that a guest wrote, and to restore them.
type Method uint8

const (
	// Quickest is, in a [Config], the quickest method that works here.
	Quickest Method = iota

	// Watch restores the same pages as the last Reset, if the guest has written to no other page since: see
	// [Memory.BeginTracking]. Otherwise it is Scan.
	Watch

	// Scan asks the kernel, by the ioctl PAGEMAP_SCAN of Linux 6.7, for the pages that differ from the image, and restores
	// them.
	Scan

	// Pagemap finds the same pages by reading an entry for each page in /proc/self/pagemap.
	Pagemap

	// Drop discards all private pages, so that the guest sees those of the image. Each page that is written then costs a page
	// fault.
	Drop

	// Copy copies the whole image. It works on all systems, and takes a full private memory for each instance.
	Copy
)

// methods are all methods, quickest first.
var methods = [...]Method{Watch, Scan, Pagemap, Drop, Copy}

func (m Method) String() string {
	names := [...]string{"quickest", "watch", "scan", "pagemap", "drop", "copy"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("method %d", uint8(m))
}

// choose returns the method that an image with this configuration uses, or why it cannot.
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
