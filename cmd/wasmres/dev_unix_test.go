//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A change during a build cancels the build, however long it would take.
func TestDevCancelsAnOutdatedBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	dir, bin := notesProject(t), t.TempDir()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	slow, begun := filepath.Join(bin, "slow"), filepath.Join(bin, "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\nif [ -e %[1]q ]; then echo > %[2]q; exec sleep 1000; fi\nexec %[3]q \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), fmt.Appendf(nil, script, slow, begun, tool), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	d, _ := startDev(t, dir)

	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	edit(t, source, devAbout, "Other words, at")
	if _, err := os.ReadFile(begun); err != nil { // waits for the compiler
		t.Fatal(err)
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	edit(t, source, "Other words", "Words")
	d.await(t, `build +built in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
	if said := d.String(); strings.Contains(said, "failed") || strings.Count(said, "changed ") != 2 {
		t.Errorf("it says\n%s", said)
	}
}

// No signal that ends dev leaves files behind.
func TestDevRemovesItsFiles(t *testing.T) {
	for _, stop := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(stop.String(), func(t *testing.T) {
			if signal.Ignored(stop) {
				t.Skip("the test was started with this signal ignored, as by nohup, and so is the program")
			}
			scratch := t.TempDir()
			cmd := exec.Command("wasmres", "dev", "--http", "127.0.0.1:0", "../../testdata/wasm/faults.wasm") // a small module
			cmd.Env = append(cmd.Environ(), "TMPDIR="+scratch)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d := startReading(stderr)
			d.await(t, "build +loaded ")
			d.await(t, "serve ")
			if err := cmd.Process.Signal(stop); err != nil {
				t.Fatal(err)
			}
			for range d.lines { // until it has ended
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("dev ended with %v", err)
			}
			if left, err := os.ReadDir(scratch); len(left) > 0 || err != nil {
				t.Errorf("dev left %v, %v", left, err)
			}
		})
	}
}
