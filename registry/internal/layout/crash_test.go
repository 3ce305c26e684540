package layout_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/registry/internal/layout"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

// roleKey has this program be a child of a test: its value is the role and its arguments, separated by spaces.
const roleKey = "WASMRES_LAYOUT_TEST_ROLE"

// roles are what a child does, given its arguments, of which the first is the folder of the layout.
var roles = map[string]func(ctx context.Context, args []string) error{
	"cycle": runCycle,
	"tags":  pushTags,
	"pin":   pinUntilKilled,
}

func TestMain(m *testing.M) {
	role, args, _ := strings.Cut(os.Getenv(roleKey), " ")
	if run := roles[role]; run != nil {
		if err := run(context.Background(), strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child returns a command that runs a role.
func child(t testing.TB, role ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleKey+"="+strings.Join(role, " "))
	return cmd
}

// runCycle changes a store in every way there is. It prints "tag NAME DIGEST" when a tag is acknowledged, and "removed NAME"
// before it has one removed. It kills itself before step number args[1], if that is above 0.
func runCycle(ctx context.Context, args []string) error {
	fatal, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	steps := 0
	step := func(string) {
		if steps++; steps == fatal {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	l, err := layout.Open(args[0], private.WithStep(step))
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Repository(repository)
	for _, version := range []int{1, 2} { // the second moves the tag, and has the first module compressed
		module := moduleBytes(version, 40_000)
		p, err := packModule(module)
		if err != nil {
			return err
		}
		if err := errors.Join(push(ctx, r, p, module), r.Tag(ctx, p.Manifest, "latest")); err != nil {
			return err
		}
		fmt.Println("tag latest", p.Manifest.Digest, p.Module.Digest)
	}
	first, err := packModule(moduleBytes(1, 40_000))
	if err != nil {
		return err
	}
	if _, err := l.Path(ctx, first.Module); err != nil { // it is stored plain again
		return err
	}
	release, err := l.Pin(ctx, first.Manifest)
	if err != nil {
		return err
	}
	release()
	fmt.Println("removed latest")
	if err := r.Remove(ctx, "latest"); err != nil {
		return err
	}
	_, err = l.Prune(ctx, layout.PruneOptions{Unnamed: time.Nanosecond, Grace: time.Nanosecond})
	return err
}

// pushTags pushes modules and tags them PREFIX0 to PREFIX(args[2]-1), where PREFIX is args[1]. It prints as runCycle does.
func pushTags(ctx context.Context, args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	l, err := layout.Open(args[0], private)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Repository(repository)
	for i := range n {
		module := append(moduleBytes(i+1, 20_000), args[1]...)
		p, err := packModule(module)
		if err != nil {
			return err
		}
		tag := args[1] + strconv.Itoa(i)
		if err := errors.Join(push(ctx, r, p, module), r.Tag(ctx, p.Manifest, tag)); err != nil {
			return err
		}
		fmt.Println("tag", tag, p.Manifest.Digest, p.Module.Digest)
	}
	return nil
}

func packModule(module []byte) (oci.Packed, error) {
	return oci.Pack(oci.DescriptorOf(oci.ModuleType, module), "demo.wasm", time.Unix(1700000000, 0), nil)
}

// An acknowledgement is what a child has said of a tag.
type acknowledgement struct{ manifest, module oci.Digest }

// acknowledged reads what children have printed. Of a tag that was about to be removed, nothing is known.
func acknowledged(t testing.TB, output []byte) map[string]acknowledgement {
	t.Helper()
	tags := map[string]acknowledgement{}
	for line := range strings.Lines(string(output)) {
		switch f := strings.Fields(line); {
		case len(f) == 4 && f[0] == "tag":
			tags[f[1]] = acknowledgement{oci.Digest(f[2]), oci.Digest(f[3])}
		case len(f) == 2 && f[0] == "removed":
			delete(tags, f[1])
		case strings.HasSuffix(line, "\n"):
			t.Errorf("the child said %q", line)
		}
	}
	return tags
}

// checkStore checks that a store opens, that it has all tags and their modules, and that nothing in it is half. It removes
// what killed processes have left, and checks that nothing else goes with it.
func checkStore(t testing.TB, dir string, tags map[string]acknowledgement) {
	t.Helper()
	l, err := layout.Open(dir, private)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 {
		r := l.Repository(repository)
		for tag, want := range tags {
			d, err := r.Resolve(t.Context(), tag)
			if err != nil {
				t.Errorf("an acknowledged tag is lost: %v", err)
				continue
			}
			m, err := fetch(t.Context(), r, d)
			if err != nil {
				t.Errorf("%s: %v", tag, err)
				continue
			}
			manifest, err := oci.ParseManifest(m)
			if err != nil || len(manifest.Layers) != 1 {
				t.Errorf("%s: %v", tag, err)
				continue
			}
			if tag != "latest" && (d.Digest != want.manifest || manifest.Layers[0].Digest != want.module) {
				t.Errorf("%s names %s, expected %s", tag, d.Digest, want.manifest)
			}
			if _, err := l.Path(t.Context(), manifest.Layers[0]); err != nil {
				t.Errorf("%s: %v", tag, err)
			}
		}
		images, err := l.Images(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, i := range images {
			if i.Err != nil {
				t.Errorf("%s %s is not whole: %v", i.Name, i.Manifest.Digest, i.Err)
			}
		}
		time.Sleep(time.Millisecond) // older than the grace
		if _, err := l.Prune(t.Context(), layout.PruneOptions{Grace: time.Nanosecond}); err != nil {
			t.Error(err)
		}
	}
	checkLayout(t, dir, true)
	if left, _ := filepath.Glob(filepath.Join(dir, "pins", "*")); len(left) > 0 {
		t.Errorf("pins of processes that have ended: %q", left)
	}
}

// TestAKillAtEachStep kills a process at one of its steps after the other, until it lives through all of them. With
// WASMRES_KILLS it leaves out none, otherwise some that change from run to run.
func TestAKillAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a process for each step")
	}
	stride := 6
	if testing.Short() {
		stride = 9
	}
	if os.Getenv("WASMRES_KILLS") != "" {
		stride = 1
	}
	for step := 1 + rand.IntN(stride); ; step += stride {
		dir := privateDir(t)
		cmd := child(t, "cycle", dir, strconv.Itoa(step))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		output, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL) {
			t.Fatalf("step %d: %v: %s", step, err, stderr.String())
		}
		checkStore(t, dir, acknowledged(t, output))
		if t.Failed() {
			t.Fatalf("after a kill before step %d", step)
		}
		if err == nil {
			t.Logf("%d steps", step-1)
			return
		}
	}
}

// TestRandomKills kills one process after another that stores modules in the same store. WASMRES_KILLS says how many.
func TestRandomKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and kills processes")
	}
	kills := 20
	if testing.Short() {
		kills = 4
	}
	if n, err := strconv.Atoi(os.Getenv("WASMRES_KILLS")); err == nil {
		kills = n
	}
	dir := privateDir(t)
	tags := map[string]acknowledgement{}
	for kill := range kills {
		cmd := child(t, "tags", dir, fmt.Sprintf("k%d-", kill), "1000")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		var output bytes.Buffer
		lines.Scan() // it is at work
		fmt.Fprintln(&output, lines.Text())
		timer := time.AfterFunc(time.Duration(rand.IntN(40_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
			fmt.Fprintln(&output, lines.Text())
		}
		_ = cmd.Wait()
		if timer.Stop() {
			t.Fatalf("the child ended by itself: %s", stderr.String())
		}
		for tag, a := range acknowledged(t, output.Bytes()) {
			tags[tag] = a
		}
		if kill%10 == 9 || kill == kills-1 {
			checkStore(t, dir, tags)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", kill+1)
		}
	}
	t.Logf("%d kills, %d acknowledged tags, all there", kills, len(tags))
}

func TestTwoProcessesLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes that write very often")
	}
	each := 50
	if testing.Short() {
		each = 15
	}
	dir := privateDir(t)
	var children []*exec.Cmd
	outputs := make([]bytes.Buffer, 2)
	for i := range outputs {
		cmd := child(t, "tags", dir, fmt.Sprintf("p%d-", i), strconv.Itoa(each))
		cmd.Stdout, cmd.Stderr = &outputs[i], os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	tags := map[string]acknowledgement{}
	for i, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		for tag, a := range acknowledged(t, outputs[i].Bytes()) {
			tags[tag] = a
		}
	}
	if len(tags) != 2*each {
		t.Errorf("%d tags were acknowledged", len(tags))
	}
	checkStore(t, dir, tags)
}
