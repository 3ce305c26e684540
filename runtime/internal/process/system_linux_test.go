package process_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// leavesNothing fails the test when it has left a process, a descriptor or a goroutine behind.
func leavesNothing(t *testing.T) {
	t.Helper()
	count := func() (fds, goroutines int) {
		open, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		return len(open), goruntime.NumGoroutine()
	}
	process.ForkServer() // or a test may start it that was to rest
	fds, goroutines := count()
	t.Cleanup(func() {
		if left := children(t, os.Getpid()); len(left) > 0 {
			t.Errorf("got %v, want no children left but the fork server", left)
		}
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			f, g := count()
			if f <= fds && g <= goroutines {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d descriptors, %d goroutines, at the start %d and %d", f, g, fds, goroutines)
			}
		}
	})
}

// childrenOf lists the children of a process, those too that have ended and are not buried.
func childrenOf(parent int) (all []string, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ESRCH) {
			return nil, err
		}
		all = append(all, strings.Fields(string(text))...)
	}
	return all, nil
}

// children lists those of a process, but the fork server.
func children(t *testing.T, parent int) []string {
	t.Helper()
	all, err := childrenOf(parent)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(id string) bool { return id == strconv.Itoa(process.ForkServer()) })
}

func report(t *testing.T, cfg process.Config) view {
	t.Helper()
	var out bytes.Buffer
	cfg.Name, cfg.Stdout, cfg.MaxStderr = "report", &out, 4096
	e := start(t, cfg).End()
	var v view
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v: %v %s", err, e, e.Stderr)
	}
	return v
}

func TestAChildOwnsNothing(t *testing.T) {
	leavesNothing(t)
	leak, err := unix.Dup(2) // as if inherited: it is not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	t.Setenv("SECRET", "x")
	r, w := pipe(t)
	both(t, func(t *testing.T, own bool) {
		got := report(t, process.Config{Files: []*os.File{r, w}, Namespaces: own})
		for what, bad := range map[string]bool{
			fmt.Sprintf("arguments %q", got.Args):          !slices.Equal(got.Args, []string{"report"}),
			fmt.Sprintf("environment %q", got.Env):         len(got.Env) != 0,
			"folder " + got.Dir:                            got.Dir != "/",
			fmt.Sprintf("descriptors %q", got.Descriptors): !slices.Equal(got.Descriptors, []string{"0", "1", "2", "3", "4"}),
			"a group of others":                            !got.Leader,
			"no_new_privs " + got.Status["NoNewPrivs"]:     got.Status["NoNewPrivs"] != "1",
		} {
			if bad {
				t.Errorf("the child has %s", what)
			}
		}
	})
}

func TestNothingMeansTheNullDevice(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		if e := start(t, process.Config{Name: "null", Namespaces: own}).End(); e.Status != 0 {
			t.Errorf("got %v, want 0, 1 and 2 to be the null device", e)
		}
	})
}

func TestEnvironmentAndFolderAreAsAsked(t *testing.T) {
	dir := t.TempDir()
	got := report(t, process.Config{Env: []string{"A=1"}, Dir: dir})
	if !slices.Equal(got.Env, []string{"A=1"}) || got.Dir != dir {
		t.Errorf("got %q in %s, want A=1 in %s", got.Env, got.Dir, dir)
	}
}

func TestNamespacesAreItsOwn(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		got := report(t, process.Config{Namespaces: own})
		for _, n := range process.Namespaces() {
			ours, err := os.Readlink("/proc/self/ns/" + n.Kind)
			if err != nil {
				t.Fatal(err)
			}
			if theirs := got.Namespaces[n.Kind]; (theirs != ours) != (own && n.Err == nil) {
				t.Errorf("%s: theirs is %s, ours is %s, refused: %v", n.Kind, theirs, ours, n.Err)
			}
			if n.Kind != "user" || !own || n.Err != nil {
				continue
			}
			if got.UID != 65534 || got.GID != 65534 || got.Status["CapEff"] != "0000000000000000" ||
				got.Status["CapPrm"] != "0000000000000000" || got.SetGroups != "deny" {
				t.Errorf("user %d, group %d, capabilities %s, setgroups %s", got.UID, got.GID, got.Status["CapEff"], got.SetGroups)
			}
		}
	})
}

func TestAChildReadsOurFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ours")
	if err := os.WriteFile(file, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, own bool) {
		var out bytes.Buffer
		e := start(t, process.Config{Name: "read " + file, Stdout: &out, MaxStderr: 1000, Namespaces: own}).End()
		if out.String() != "ours" {
			t.Errorf("got %q, %v: %s", out.String(), e, e.Stderr)
		}
	})
}

func TestProcessorTimeIsCounted(t *testing.T) {
	both(t, func(t *testing.T, own bool) {
		if e := start(t, process.Config{Name: "burn", Namespaces: own}).End(); e.CPU < 50*time.Millisecond {
			t.Errorf("got %v, want 50ms or more", e.CPU)
		}
	})
}

// hear waits for the byte that says that a process has the other end.
func hear(t *testing.T, r *os.File) {
	t.Helper()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

// deserted waits until no process has the other end any more.
func deserted(t *testing.T, r *os.File) {
	t.Helper()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v: a process still has the other end", err)
	}
}

func TestAStoppedChildIsKilled(t *testing.T) {
	leavesNothing(t)
	both(t, func(t *testing.T, own bool) {
		r, w := pipe(t)
		p := start(t, process.Config{Name: "wait", Stdout: w, Namespaces: own})
		hear(t, r)
		if err := unix.Kill(p.ID(), unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, p.ID(), nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		if e := p.End(); e.Signal != syscall.SIGKILL || e.Status != -1 || !e.Killed || e.String() != "signal: killed" {
			t.Errorf("got %+v, want it killed", e)
		}
	})
}

func TestWhatAChildHasStartedGoesWithIt(t *testing.T) {
	leavesNothing(t)
	for _, name := range []string{"fork", "fork wait", "forksession", "forksession wait"} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, own bool) {
				if strings.HasPrefix(name, "forksession") && (!own || process.Namespaces()[1].Err != nil) {
					return // only a pid namespace holds those who leave the session
				}
				r, w := pipe(t)
				held, hold := pipe(t)
				p := start(t, process.Config{Name: name, Stdout: w, Files: []*os.File{hold}, MaxStderr: 2000, Namespaces: own})
				if err := hold.Close(); err != nil {
					t.Fatal(err)
				}
				hear(t, r)
				if strings.HasSuffix(name, "wait") {
					p.Kill()
				}
				deserted(t, held)
				if e := p.End(); e.Stderr != "" {
					t.Errorf("got %v, %s", e, e.Stderr)
				}
			})
		})
	}
}

// between kills a process that has started a child, and looks whether the child goes too.
func between(t *testing.T, child string, env ...string) {
	t.Helper()
	r, w := pipe(t)
	held, hold := pipe(t)
	middle := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"middle " + child}, Env: append(env, "GORACE=atexit_sleep_ms=0"),
		Stdout: w, Stderr: os.Stderr, ExtraFiles: []*os.File{hold},
	}
	if err := middle.Start(); err != nil {
		t.Fatal(err)
	}
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	hear(t, r)
	if err := middle.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = middle.Wait() // killed
	deserted(t, held)
}

// everyWay has it started without and with namespaces, and by a fork server.
func everyWay(t *testing.T, child string) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { between(t, child) })
	t.Run("namespaces", func(t *testing.T) { between(t, child, "NAMESPACES=1") })
	if process.ForkServer() != 0 {
		t.Run("fork server", func(t *testing.T) { between(t, child, "NAMESPACES=1", "FORKSERVER=1") })
	}
}

func TestAChildDoesNotOutliveUs(t *testing.T) {
	everyWay(t, "wait")
}

// The kernel has forgotten the signal at our death when such a program begins.
func TestAChildWithCapabilitiesDoesNotOutliveUs(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o700); err != nil {
		t.Fatal(err)
	}
	// Revision 2, effective; permitted: CAP_NET_BIND_SERVICE.
	capability := []byte{1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if err := unix.Setxattr(program, "security.capability", capability, 0); err != nil {
		t.Skipf("only root can give a file capabilities: %v", err)
	}
	everyWay(t, "tied "+program)
}

// onMortalThread does something on a thread that ends with it: any but the first of the process, which Go keeps.
func onMortalThread(do func()) {
	go func() {
		goruntime.LockOSThread() // and never unlocks: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			onMortalThread(do)
			return
		}
		do()
	}()
}

func TestAChildOutlivesTheThreadThatAskedForIt(t *testing.T) {
	leavesNothing(t)
	both(t, func(t *testing.T, own bool) {
		r, w := pipe(t)
		started := make(chan *process.Process)
		var thread int
		onMortalThread(func() {
			thread = unix.Gettid()
			started <- start(t, process.Config{Name: "wait", Stdout: w, Namespaces: own})
		})
		p := <-started
		hear(t, r)
		gone := fmt.Sprintf("/proc/self/task/%d", thread)
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(gone); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the thread does not end")
			}
		}
		// A signal from its end would be there by now, and one signal more would change nothing.
		if err := unix.Kill(p.ID(), unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, p.ID(), nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		if e := p.End(); !e.Killed {
			t.Errorf("got %+v, want it alive until it was killed", e)
		}
	})
}

func TestChildrenThatAreWaitedForTakeNoThreads(t *testing.T) {
	leavesNothing(t)
	const many = 40
	threads := func() int {
		all, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := threads()
	for range many {
		r, w := pipe(t)
		start(t, process.Config{Name: "wait", Stdout: w})
		hear(t, r)
	}
	if after := threads(); after > before+many/2 {
		t.Errorf("%d threads, %d before %d children", after, before, many)
	}
}

func TestWhatTheMachineRefusesIsSaidOnce(t *testing.T) {
	all := []string{"user", "pid", "net", "ipc", "uts"}
	for _, refused := range [][]string{nil, {"user"}, {"net"}, {"pid", "ipc"}, all} {
		t.Run(strings.Join(refused, "+"), func(t *testing.T) {
			var out bytes.Buffer
			machine := &exec.Cmd{
				Path: "/proc/self/exe", Args: []string{"refuse " + strings.Join(refused, " ")}, Stdout: &out, Stderr: os.Stderr,
				SysProcAttr: &syscall.SysProcAttr{
					Cloneflags:  unix.CLONE_NEWUSER,
					UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
				},
			}
			if err := machine.Run(); err != nil {
				t.Skipf("this kernel gives no user namespace to try it in: %v", err)
			}
			var want []string
			for _, kind := range all {
				if slices.Contains(refused, kind) {
					want = append(want, kind+": no "+kind+" namespace: no space left on device (/proc/sys/user/max_"+kind+"_namespaces is 0)")
				} else {
					want = append(want, kind+": <nil>")
				}
			}
			got := out.String()
			if !strings.HasSuffix(got, strings.Join(want, "\n")+"\n") {
				t.Errorf("got %s\nwant %s", got, strings.Join(want, "\n"))
			}
			if n := strings.Count(got, "level=WARN"); n != min(1, len(refused)) || strings.Count(got, "child: exit status 7") != 3 {
				t.Errorf("got %s\nwant 3 children and %d warnings", got, min(1, len(refused)))
			}
		})
	}
}
