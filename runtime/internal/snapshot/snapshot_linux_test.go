package snapshot_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// Pages that the kernel has put away are still the guest's.
func TestResetFindsPagesThatAreNotInMemory(t *testing.T) {
	const length = 2 * mib
	original := holes(length)
	for name, advice := range map[string]int{"cold": unix.MADV_COLD, "paged out": unix.MADV_PAGEOUT} {
		t.Run(name, func(t *testing.T) {
			eachMethod(t, func(t *testing.T, method snapshot.Method) {
				m := newMemory(t, newImage(t, original, snapshot.Config{Limit: 2 * length, Method: method}))
				defer release(t, m)
				e := instantiate(m)
				for _, stride := range []int{kernelPage, 10 * kernelPage, 100 * kernelPage} {
					mustGrow(t, e, 2*length)
					e.dirty(0, 2*length, stride)
					if err := unix.Madvise(e.view, advice); err != nil {
						t.Skipf("the kernel does not allow it: %v", err)
					}
					e.reset(t)
					checkRestored(t, e, original, 2*length)
				}
				if free := swapFree(t); advice == unix.MADV_PAGEOUT && free == 0 {
					t.Log("this machine has no swap: anonymous pages stayed in memory")
				}
			})
		})
	}
}

// swapFree is in bytes.
func swapFree(t *testing.T) uint64 {
	t.Helper()
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	return uint64(info.Freeswap) * uint64(info.Unit)
}

// Pages that were only read are not taken for written ones.
func TestReadingKeepsNothing(t *testing.T) {
	for _, method := range []snapshot.Method{snapshot.Scan, snapshot.Pagemap} {
		t.Run(method.String(), func(t *testing.T) {
			image, err := snapshot.New(holes(4*mib), snapshot.Config{Limit: 8 * mib, Method: method})
			if err != nil {
				t.Skipf("does not work here: %v", err)
			}
			defer image.Close()
			m := newMemory(t, image)
			defer release(t, m)
			e := instantiate(m)
			if bytes.Count(e.view, []byte{0}) == 0 {
				t.Error("no zeros")
			}
			e.reset(t)
			if got := m.PrivateBytes(); got != 0 {
				t.Errorf("%d bytes are kept", got)
			}
			e.dirty(5, 6, 1)
			e.reset(t)
			if got := m.PrivateBytes(); got != uint64(os.Getpagesize()) {
				t.Errorf("%d bytes are kept, want a page", got)
			}
		})
	}
}

// A 32-bit address space that hardly anything is written to costs hardly anything.
func TestALimitIsOnlyAddressSpace(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 4 {
		t.Skip("a limit of 4 GiB needs 64-bit addresses")
	}
	const length = mib
	gib := 1 << 30 // a variable, since four are no constant where int has 32 bits
	limit := 4 * gib
	original := noise(length)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		image := newImage(t, original, snapshot.Config{Limit: uint64(limit), Method: method})
		m := newMemory(t, image)
		e := instantiate(m)
		if method == snapshot.Copy { // which clears what was grown, in place
			release(t, m)
			return
		}
		for range 3 {
			mustGrow(t, e, limit)
			for _, at := range []int{0, length, 2 * gib, 3 * gib, limit - 1} {
				e.view[at]++
			}
			e.reset(t)
		}
		mustGrow(t, e, limit)
		for _, at := range []int{length, 2 * gib, 3 * gib, limit - 1} {
			if e.view[at] != 0 {
				t.Errorf("byte %#x is not zero", at)
			}
		}
		if got := residentIn(t, e.view); got > 8*mib {
			t.Errorf("%d bytes are resident", got)
		}
		release(t, m)
	})
}

// residentIn returns how many bytes of the mappings that view lies in are resident.
func residentIn(t testing.TB, view []byte) (bytes int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	first := uintptr(unsafe.Pointer(&view[0]))
	isIn, found := false, false
	for line := range strings.Lines(string(smaps)) {
		var start, end uintptr
		var kib int
		if n, _ := fmt.Sscanf(line, "%x-%x ", &start, &end); n == 2 {
			isIn = end > first && start < first+uintptr(len(view))
			found = found || isIn
		} else if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kib); n == 1 && isIn {
			bytes += kib << 10
		}
	}
	if !found {
		t.Fatal("no mapping of the memory is in /proc/self/smaps")
	}
	return bytes
}

func TestImagesLeaveNothingBehind(t *testing.T) {
	const limit = 4 * wasmPage
	original := holes(wasmPage)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		use := func() {
			image, err := snapshot.New(original, snapshot.Config{Limit: limit, Idle: 2, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			var memories []*snapshot.Memory
			for range 3 {
				m := newMemory(t, image)
				e := instantiate(m)
				mustGrow(t, e, limit)
				e.dirty(0, limit, 8*kernelPage)
				memories = append(memories, m)
			}
			for _, m := range memories {
				release(t, m)
			}
			blank, err := snapshot.Blank(limit, 0)
			if err != nil {
				t.Fatal(err)
			}
			blank.Reallocate(wasmPage)[5] = 1
			release(t, blank)
			if err := image.Close(); err != nil {
				t.Fatal(err)
			}
		}
		use()
		descriptors, areas := openFiles(t), mappings(t)
		for range cycles(500) {
			use()
		}
		if got := openFiles(t); got != descriptors {
			t.Errorf("%d open files, %d at the start", got, descriptors)
		}
		// Go's own heap may take some.
		if got := mappings(t); got > areas+10 {
			t.Errorf("%d mappings, %d at the start", got, areas)
		}
	})
}

// A released memory over the bound of idle ones is unmapped, the others are not.
func TestIdleMappingsAreBounded(t *testing.T) {
	image := newImage(t, noise(wasmPage), snapshot.Config{Limit: mib, Idle: 5})
	var memories []*snapshot.Memory
	for range 200 {
		memories = append(memories, newMemory(t, image))
	}
	busy := mappings(t)
	for _, m := range memories {
		release(t, m)
	}
	if got := mappings(t); got > busy-195 {
		t.Errorf("%d mappings with 200 memories, %d without", busy, got)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func mappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(maps, []byte("\n"))
}

// No process that finds the image's file can change it or map it for writing.
func TestTheImageIsSealed(t *testing.T) {
	original := noise(mib)
	eachMethod(t, func(t *testing.T, method snapshot.Method) {
		if method == snapshot.Copy {
			t.Skip("has no file")
		}
		m := newMemory(t, newImage(t, original, snapshot.Config{Method: method}))
		defer release(t, m)
		fd := imageFile(t)
		if _, err := unix.Pwrite(fd, []byte{0}, 0); err != unix.EPERM {
			t.Errorf("write: got %v, want %v", err, unix.EPERM)
		}
		if err := unix.Ftruncate(fd, 0); err != unix.EPERM {
			t.Errorf("truncate: got %v, want %v", err, unix.EPERM)
		}
		if _, err := unix.Mmap(fd, 0, mib, unix.PROT_WRITE, unix.MAP_SHARED); err != unix.EPERM {
			t.Errorf("mapping: got %v, want %v", err, unix.EPERM)
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("got flags %#x, %v, want close on exec", flags, err)
		}
		checkEqual(t, m.Bytes(), original)
	})
}

// imageFile finds the descriptor of the only image.
func imageFile(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err != nil || !strings.Contains(target, "memfd:wasmres-image") {
			continue
		}
		var fd int
		if _, err := fmt.Sscan(entry.Name(), &fd); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	t.Fatal("no image is open")
	return -1
}
