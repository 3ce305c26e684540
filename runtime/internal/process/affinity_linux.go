package process

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A division is how the processors of this process are shared out. It is the zero one where there is only one.
type division struct{ all, background *unix.CPUSet }

// processors divides those this process may use, as they are when it is first asked.
var processors = sync.OnceValue(func() (d division) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return division{}
	}
	aside, free := all, max(1, all.Count()/4)
	for cpu := len(aside)*64 - 1; free > 0; cpu-- {
		if aside.IsSet(cpu) {
			aside.Clear(cpu)
			free--
		}
	}
	return division{all: &all, background: &aside}
})

// maxSweeps is how often the threads of a child are gone through, in which it may start further ones.
const maxSweeps = 3

// setAffinity moves all threads of a child. What a thread starts is where the thread is.
func setAffinity(p *os.Process, aside bool) {
	d := processors()
	if d.background == nil {
		return
	}
	set := d.all
	if aside {
		set = d.background
	}
	moved := 0
	for range maxSweeps {
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(p.Pid) + "/task") // none of one that has ended
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
