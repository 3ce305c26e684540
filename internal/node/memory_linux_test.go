//go:build !race

package node_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
)

// groupEnv names the control group in which the test runs itself.
const groupEnv = "WASMRES_TEST_CONTROL_GROUP"

// Live providers fill a small control group. Then a module is compiled: others give up their memory for it, the system kills nothing, and
// each client gets its answer, or the time to try again. With the race detector, no server fits into the control group.
func TestCompilationsHaveMemoryInASmallControlGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two modules in Go")
	}
	full, fresh := guesttest.File(t, "hello"), guesttest.Crashing(t, project.Go)
	if group := os.Getenv(groupEnv); group != "" {
		fillMemory(t, full, fresh)
		return
	}
	group := newControlGroup(t, 288<<20)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group.dir,
		os.Args[0], "-test.run=^TestCompilationsHaveMemoryInASmallControlGroup$", "-test.v")
	cmd.Env = append(os.Environ(), groupEnv+"="+group.dir)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	if kills := group.kills(t); kills != "0" {
		t.Errorf("the system has killed %s processes", kills)
	}
}

// fillMemory has the providers of many tenants live, then opens one whose module was not compiled before.
func fillMemory(t *testing.T, full, fresh string) {
	const many = 24
	tenants := map[string]string{"fresh": fmt.Sprintf("plan: light\nproviders: {p: {module: %q}}\n", fresh)}
	for i := range many {
		tenants[fmt.Sprint("full-", i)] = fmt.Sprintf("plan: light\nproviders: {p: {module: %q}}\n", full)
	}
	h := hostOpen(t, "", "", tenants)
	answered := func(r request) {
		for {
			a := h.do(r)
			if a.isResult() {
				return
			}
			if !a.isLater() {
				t.Fatalf("%s got %d %s", r.tenant, a.status, a.body)
			}
		}
	}
	for i := range many {
		answered(request{tenant: fmt.Sprint("full-", i), method: "resources/read", uri: "hello://about"})
	}
	live := h.Node.Node().Live
	if live == many {
		t.Errorf("all %d providers are live: they do not fill the control group", many)
	}
	answered(request{tenant: "fresh", method: "resources/list"})
	if log := h.log.String(); strings.Contains(log, "killed") {
		t.Error(log)
	}
	t.Logf("%d of %d providers were live, %d after the compilation", live, many, h.Node.Node().Live)
}

// A controlGroup bounds memory. It is of version 1 or 2.
type controlGroup struct{ dir string }

// newControlGroup makes a control group below that of this process, or skips the test.
func newControlGroup(t *testing.T, bytes int64) controlGroup {
	t.Helper()
	for _, parent := range memoryGroups(t) {
		dir := filepath.Join(parent, fmt.Sprint("wasmres-test-", os.Getpid()))
		if err := os.Mkdir(dir, 0o700); err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		for _, limit := range []string{"memory.max", "memory.limit_in_bytes"} {
			file := filepath.Join(dir, limit)
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err := os.WriteFile(file, fmt.Append(nil, bytes), 0); err != nil {
				t.Skip(err)
			}
			return controlGroup{dir}
		}
	}
	t.Skip("this process can make no control group that bounds memory")
	return controlGroup{}
}

// memoryGroups returns where the control groups of this process may be that bound memory.
func memoryGroups(t *testing.T) (dirs []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup", parts[2]))
		case strings.Contains(parts[1], "memory"):
			dirs = append(dirs, filepath.Join("/sys/fs/cgroup/memory", parts[2]))
		}
	}
	return dirs
}

// kills returns how many processes of the group the system has killed.
func (g controlGroup) kills(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		f, err := os.Open(filepath.Join(g.dir, name))
		if err != nil {
			continue
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if n, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
				return n
			}
		}
	}
	t.Fatal("the control group does not count what the system kills")
	return ""
}
