package child

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A program has the mappings of the program file's code. Other mappings of the file may have been written by a dynamic
// linker.
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

// unload releases the pages of the code: serving needs few of the pages that starting used. The kernel reads a page
// from the file again when needed.
func (p program) unload() {
	for _, r := range p {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, r.start, r.end-r.start, unix.MADV_DONTNEED) // failing only costs memory
	}
}
