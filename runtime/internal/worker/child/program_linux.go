package child

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A program is where the code of the running program's file is mapped. Its other mappings may hold what a dynamic linker
// has written before it made them read-only.
type program []region

type region struct{ start, end uintptr }

// findProgram finds the code of this program in memory. It opens files.
func findProgram() (program, error) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var p program
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r region
		var mode string
		line := lines.Text()
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &r.start, &r.end, &mode); n == 3 && strings.HasSuffix(line, self) && mode == "r-xp" {
			p = append(p, r)
		}
	}
	return p, nil
}

// unload releases the pages of the code: serving needs few of those that starting has read. The kernel reads a page from
// the file again when it is needed.
func (p program) unload() {
	for _, r := range p {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, r.start, r.end-r.start, unix.MADV_DONTNEED) // a failure costs memory, nothing else
	}
}
