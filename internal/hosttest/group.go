package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// MemoryGroup makes a control group of version 2 or 1 that bounds the memory of what runs in it, and returns its folder; none where there
// can be none. It is removed at the end of the test, up to 20 s after its last process.
func MemoryGroup(tb testing.TB, bytes int) (dir string) {
	tb.Helper()
	for root, limit := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(root, fmt.Sprintf("wasmres-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		tb.Cleanup(func() {
			for until := time.Now().Add(20 * time.Second); os.Remove(dir) != nil && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			}
		})
		if _, err := os.Stat(filepath.Join(dir, limit)); err == nil && os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(bytes)), 0o600) == nil {
			return dir
		}
	}
	return ""
}

// Kills returns how many processes of a control group the system has killed. ok is false if the group does not count them.
func Kills(group string) (n int, ok bool) {
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, _ := os.ReadFile(filepath.Join(group, name)) // of one of the versions
		for line := range strings.Lines(string(text)) {
			if count, found := strings.CutPrefix(line, "oom_kill "); found {
				n, err := strconv.Atoi(strings.TrimSpace(count))
				return n, err == nil
			}
		}
	}
	return 0, false
}
