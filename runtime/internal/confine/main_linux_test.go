package confine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// childName is the zeroth argument of the test binary when it is started to be confined. What to do then is the first.
const childName = "confine-test-child"

func TestMain(m *testing.M) {
	if os.Args[0] != childName {
		os.Exit(m.Run())
	}
	err := children()[os.Args[1]](os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// children is what can be done in a process that is lost to everything else afterwards.
func children() map[string]func(args []string) error {
	all := map[string]func([]string) error{
		"attempts": childAttempts,
		"files":    childFiles,
		"database": childDatabase,
		"alive":    childAlive,
		"wasm":     childWasm,
		"threads":  childThreads,
		"limits":   childLimits,
		"data":     childData,
		"spin":     childSpin,
		"only":     childOnlySeal,
		"time":     childTime,
		"fenced":   childFenced,
		"statuses": childStatuses,
		"churn":    childChurn,
	}
	maps.Copy(all, moreChildren())
	maps.Copy(all, taggedChildren)
	return all
}

// taggedChildren are those that only some builds have.
var taggedChildren = map[string]func(args []string) error{}

// tell answers the parent.
func tell(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// A child is a process to be started.
type child struct {
	args  []string
	stdin io.Reader
	flags uintptr // for clone
}

// run starts a child, waits for it, and decodes what it tells.
func (c child) run(tb testing.TB, answer any) *os.ProcessState {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute) // of those that hang
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", c.args...)
	cmd.Args[0] = childName
	cmd.Env = []string{"GOTRACEBACK=all", "GORACE=atexit_sleep_ms=0"}
	cmd.Stdin = c.stdin
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: c.flags, Pdeathsig: syscall.SIGKILL}
	if c.flags&syscall.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		tb.Fatalf("start child %v: %v", c.args, err)
	}
	if answer == nil {
		return cmd.ProcessState
	}
	if err != nil {
		tb.Fatalf("child %v: %v\n%s", c.args, err, clip(errs.String()))
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		tb.Fatalf("child %v: %v in %q", c.args, err, clip(out.String()))
	}
	return cmd.ProcessState
}

func clip(s string) string { return strings.TrimSpace(s[:min(len(s), 4<<10)]) }

// machine fails the test where a layer is missing without which it can show nothing.
func machine(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		if !confine.Probe().On(name) {
			tb.Skipf("the kernel lacks %s: %v", name, confine.Probe())
		}
	}
}
