package worker

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A program is where the code of the running program's file is mapped. What else is mapped of it may be written to before
// it is made read-only, by a dynamic linker, and would be lost.
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

// forget unmaps the pages that starting took and serving does not: most of them. What is needed again comes back from
// the file.
func (p program) forget() {
	for _, r := range p {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, r.start, r.end-r.start, unix.MADV_DONTNEED) // it saves memory, no more
	}
}
