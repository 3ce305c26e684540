package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// brood is the children that somebody here will bury, by their numbers.
var brood = struct {
	sync.Mutex
	ids map[int]bool
}{ids: map[int]bool{}}

func enroll(id int) {
	brood.Lock()
	defer brood.Unlock()
	brood.ids[id] = true
}

func strike(id int) {
	brood.Lock()
	defer brood.Unlock()
	delete(brood.ids, id)
}

// buryStrays kills and buries children of this thread that nobody here knows: a fork server that failed may have left
// one. Only on the starter's thread, whose children are all this package's. An error says that there may still be some.
func buryStrays() error {
	text, err := os.ReadFile("/proc/thread-self/children") // where the kernel has it
	if err != nil {
		return err
	}
	brood.Lock()
	defer brood.Unlock()
	for field := range strings.FieldsSeq(string(text)) {
		id, err := strconv.Atoi(field)
		if err != nil || id <= 1 {
			return fmt.Errorf("child %q", field)
		}
		if brood.ids[id] {
			continue
		}
		kill(id)
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			_, err = unix.Wait4(id, nil, 0, nil)
		}
	}
	return nil
}
