package process

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A division splits the processors of this process. It is zero when there is only one processor.
type division struct{ all, background *unix.CPUSet }

// processors divides the processors that this process may use at the first call.
var processors = sync.OnceValue(func() (d division) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return division{}
	}
	background, free := all, max(1, all.Count()/4)
	for cpu := len(background)*64 - 1; free > 0; cpu-- {
		if background.IsSet(cpu) {
			background.Clear(cpu)
			free--
		}
	}
	return division{all: &all, background: &background}
})

// maxSweeps is how often setAffinity goes through the threads of a child, which may start further ones meanwhile.
const maxSweeps = 3

// setAffinity moves all threads of a child. New threads inherit the processors of the thread that starts them.
func setAffinity(p *os.Process, background bool) {
	d := processors()
	if d.background == nil {
		return
	}
	set := d.all
	if background {
		set = d.background
	}
	moved := 0
	for range maxSweeps {
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(p.Pid) + "/task") // none if the child has ended
		if len(threads) == moved {
			return
		}
		moved = len(threads)
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				_ = unix.SchedSetaffinity(id, set) // it may have ended
			}
		}
	}
}
