package compiler_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

// probeEnv makes a child of the tests look around, once it is confined, and answer with what it may not do.
const probeEnv = "COMPILER_TEST_PROBE"

// probe stands between Main and the parent: when Main says that it is ready for the module, it looks around instead.
func probe() {
	folder := os.Getenv(probeEnv)
	if folder == "" {
		return
	}
	in, out := os.Stdin, os.Stdout
	fromHere, toMain, err := os.Pipe()
	must(err)
	fromMain, toHere, err := os.Pipe()
	must(err)
	os.Stdin, os.Stdout = fromHere, toHere
	go func() {
		orders, err := bufio.NewReader(in).ReadString('\n')
		must(err)
		_, err = io.WriteString(toMain, orders)
		must(err)
		ready, err := bufio.NewReader(fromMain).ReadString('\n')
		must(err)
		text, err := json.Marshal(map[string]string{"failed": "probe", "detail": lookAround(folder)})
		must(err)
		fmt.Fprintf(out, "%s%s\n", ready, text)
	}()
	compiler.Main()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// lookAround lists what is permitted, of all that should not be, and what is not, of what should.
func lookAround(cache string) string {
	read := func(file string) error { _, err := os.ReadFile(file); return err }
	attempts := map[string]error{
		"program": exec.Command("/bin/true").Run(),
		"socket":  func() error { _, err := net.Dial("tcp", "127.0.0.1:9"); return err }(),
		"signal":  unix.Kill(0, 0),
	}
	if confine.Probe().On(confine.Landlock) {
		attempts["passwd"] = read("/etc/passwd")
		attempts["environ"] = read("/proc/self/environ")
		attempts["cache"] = read(filepath.Join(cache, "outside"))
		attempts["above"] = read("../outside")
		attempts["new"] = os.WriteFile(filepath.Join(cache, "new"), nil, 0o600)
	}
	var wrong []string
	for what, err := range attempts {
		if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) {
			wrong = append(wrong, fmt.Sprintf("%s: %v", what, err))
		}
	}
	if err := errors.Join(os.WriteFile("own", []byte("x"), 0o600), read("own"), os.Remove("own")); err != nil {
		wrong = append(wrong, err.Error())
	}
	return fmt.Sprintf("%d attempts, not as it should be: %q", len(attempts), wrong)
}

func TestAChildReachesOnlyItsScratchFolder(t *testing.T) {
	leavesNothing(t)
	layers := confine.Probe()
	if !layers.On(confine.Seccomp) {
		t.Skipf("this kernel cannot hold it: %v", layers)
	}
	dir := newDir(t)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "outside"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	cfg := compiler.Config{CacheDir: dir, Executable: script(t, probeEnv+"="+dir+" exec -a wasmres-compile "+self(t))}
	want := "compiler: probe: 8 attempts, not as it should be: []"
	if !layers.On(confine.Landlock) {
		want = "compiler: probe: 3 attempts, not as it should be: []"
	}
	check(t, dir, newCompiler(t, cfg).Compile(t.Context(), tiny()), abi.CodeInternal, want)
	if left := files(t, dir, "new"); len(left) > 0 {
		t.Errorf("got %v, want nothing written", left)
	}
}

func TestAChildInheritsNothing(t *testing.T) {
	t.Setenv("SECRET", "leaked")
	for _, n := range process.Namespaces() {
		ours, err := os.Readlink("/proc/self/ns/" + n.Kind)
		if err != nil {
			t.Fatal(err)
		}
		dir := newDir(t)
		cfg := compiler.Config{CacheDir: dir, Executable: script(t, "kind="+n.Kind+`
			echo ready
			echo "{\"failed\":\"told so\",\"detail\":\"$(readlink /proc/self/ns/$kind) ${SECRET-secret}\"}"`)}
		err = newCompiler(t, cfg).Compile(t.Context(), tiny())
		check(t, dir, err, abi.CodeInternal, "told so: "+n.Kind+":[")
		check(t, dir, err, abi.CodeInternal, "] secret")
		if same := strings.Contains(err.Error(), ours); same != (n.Err != nil) {
			t.Errorf("got %v, ours is %s, refused: %v", err, ours, n.Err)
		}
	}
}
