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

// children has the process ids of the children that this program will reap.
var children = struct {
	sync.Mutex
	ids map[int]bool
}{ids: map[int]bool{}}

func track(id int) {
	children.Lock()
	defer children.Unlock()
	children.ids[id] = true
}

func untrack(id int) {
	children.Lock()
	defer children.Unlock()
	delete(children.ids, id)
}

func isTracked(id int) bool {
	children.Lock()
	defer children.Unlock()
	return children.ids[id]
}

// isOurs reports whether the child with that id is one of this thread's: after reaping, another process may get the id.
func isOurs(id int) bool {
	const look = unix.WEXITED | unix.WNOHANG | unix.WNOWAIT | unix.WNOTHREAD
	return !errors.Is(unix.Waitid(unix.P_PID, id, nil, look, nil), unix.ECHILD)
}

// reapOrphans kills and reaps children of this thread that are not tracked: a fork server that failed may have left
// one. It must run on the starter's thread, which has only this package's children. After an error there may still be
// some.
func reapOrphans() error {
	text, err := os.ReadFile("/proc/thread-self/children") // if the kernel has this file
	if err != nil {
		return err
	}
	for field := range strings.FieldsSeq(string(text)) {
		id, err := strconv.Atoi(field)
		if err != nil || id <= 1 {
			return fmt.Errorf("child %q", field)
		}
		if isTracked(id) || !isOurs(id) {
			continue
		}
		kill(id)
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			_, err = unix.Wait4(id, nil, 0, nil)
		}
	}
	return nil
}
