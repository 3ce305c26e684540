package snapshot

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A pageScanner finds the private pages of a memory. In a private mapping of a sealed file, only an anonymous page, in
// memory or in swap, can differ from the file. Pages that were only read are those of the file.
type pageScanner struct {
	arg     scanArg
	regions []region
	entries []byte // 8 bytes for each page
}

// newPageScanner makes the buffer of the method, so that a Reset does not allocate. 64 regions suffice, in one call, for the
// pages that are restored in place; 1,024 entries are for 4 MiB of memory. Both loop when there is more.
func newPageScanner(method Method) pageScanner {
	switch method {
	case Watch, Scan:
		return pageScanner{regions: make([]region, 64)}
	case Pagemap:
		return pageScanner{entries: make([]byte, 1024*8)}
	}
	return pageScanner{}
}

// pagemapFile is /proc/self/pagemap. All images of the process share it, since it has no state; it stays open.
var pagemapFile = sync.OnceValues(func() (int, error) {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open /proc/self/pagemap: %w", err)
	}
	return fd, nil
})

// prepare opens the files that a method needs.
func prepare(m Method) error {
	if m == Watch || m == Scan || m == Pagemap {
		_, err := pagemapFile()
		return err
	}
	return nil
}

// From linux/fs.h.
const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
	pageIsPFNZero = 1 << 5
)

// scanArg is struct pm_scan_arg.
type scanArg struct {
	size, flags, start, end, walkEnd uint64
	vec, vecLen, maxPages            uint64
	inverted, mask, anyOf, returned  uint64
}

// region is struct page_region.
type region struct{ start, end, categories uint64 }

// scan restores what the ioctl PAGEMAP_SCAN finds. Each call continues where the one before had no more regions.
func (f *pageScanner) scan(r *restorer) error {
	if len(r.mem) == 0 {
		return nil
	}
	for at, end := uint64(0), uint64(len(r.mem)); at < end; at = r.next(at) {
		found, walked, err := f.find(r.mem, at)
		if err != nil {
			return err
		}
		for _, one := range found {
			// After the image, reading alone maps the kernel's page of zeros. Within the image, a page of zeros is one that
			// the kernel has merged after the guest wrote zeros.
			r.run(one.start, one.end, one.categories&pageIsPFNZero != 0)
		}
		at = walked
	}
	return nil
}

// find returns private pages of mem from an offset on, as offsets in mem, and how far it has looked. They are valid until the
// next find.
func (f *pageScanner) find(mem []byte, at uint64) (found []region, walked uint64, err error) {
	fd, err := pagemapFile()
	if err != nil {
		return nil, 0, err
	}
	base, end := uint64(uintptr(unsafe.Pointer(&mem[0]))), uint64(len(mem))
	for {
		f.arg = scanArg{
			size: uint64(unsafe.Sizeof(f.arg)), start: base + at, end: base + end,
			vec: uint64(uintptr(unsafe.Pointer(&f.regions[0]))), vecLen: uint64(len(f.regions)),
			inverted: pageIsFile, mask: pageIsFile, anyOf: pageIsPresent | pageIsSwapped, returned: pageIsPFNZero,
		}
		n, errno := f.ask(fd, end-at)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return nil, 0, fmt.Errorf("scan pagemap: %w", errno)
		}
		found = f.regions[:n]
		break
	}
	for i := range found {
		found[i].start -= base
		found[i].end -= base
	}
	if walked = f.arg.walkEnd - base; walked <= at || walked > end {
		return nil, 0, fmt.Errorf("scan pagemap: stopped at byte %d, begun at %d of %d", int64(walked), at, end)
	}
	return found, walked, nil
}

// touched returns where the first size bytes of a mapping without a file may be other than zero; nil when that is not known.
func (s *mapping) touched(size uint64) []extent {
	if len(s.scanner.regions) == 0 || size == 0 {
		return nil
	}
	parts := []extent{}
	for at := uint64(0); at < size; {
		found, walked, err := s.scanner.find(s.mem[:size], at)
		if err != nil {
			return nil
		}
		for _, one := range found {
			if one.categories&pageIsPFNZero == 0 {
				parts = append(parts, extent{one.start, one.end})
			}
		}
		at = walked
	}
	return parts
}

// quick is how many bytes the kernel scans in a few microseconds. So short a system call is not announced to Go's
// scheduler, which would reassign the processor.
const quick = 16 << 20

// ask makes the kernel scan size bytes.
func (f *pageScanner) ask(fd int, size uint64) (regions uintptr, errno unix.Errno) {
	if size <= quick {
		regions, _, errno = unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), pagemapScan, uintptr(unsafe.Pointer(&f.arg)))
		return regions, errno
	}
	regions, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pagemapScan, uintptr(unsafe.Pointer(&f.arg)))
	return regions, errno
}

// pagemap restores the private pages in the entries of /proc/self/pagemap, one for each page.
func (f *pageScanner) pagemap(r *restorer) error {
	if len(r.mem) == 0 {
		return nil
	}
	fd, err := pagemapFile()
	if err != nil {
		return err
	}
	page := uint64(os.Getpagesize())
	base := uint64(uintptr(unsafe.Pointer(&r.mem[0])))
	for at, end := uint64(0), uint64(len(r.mem)); at < end; at = r.next(at) {
		want := min(uint64(len(f.entries)), (end-at)/page*8)
		n, err := unix.Pread(fd, f.entries[:want], int64((base+at)/page*8))
		if err == unix.EINTR {
			continue
		}
		if err == nil && n < 8 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("read pagemap: %w", err)
		}
		at = repairEntries(r, f.entries[:n/8*8], at, page)
	}
	return nil
}

// repairEntries restores runs of private pages. The first entry is of the page at an offset. It returns the offset
// after the last.
func repairEntries(r *restorer, entries []byte, at, page uint64) uint64 {
	start := at
	for ; len(entries) > 0; entries = entries[8:] {
		if !isPrivate(binary.NativeEndian.Uint64(entries)) {
			if start < at {
				r.run(start, at, false)
			}
			start = at + page
		}
		at += page
	}
	if start < at {
		r.run(start, at, false)
	}
	return at
}

// isPrivate reports whether an entry is of a private page: bit 63 (in memory) or bit 62 (in swap) is set, and bit 61
// (of a file) is not.
func isPrivate(entry uint64) bool { return entry>>62 != 0 && entry>>61&1 == 0 }
