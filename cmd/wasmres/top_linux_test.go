package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/internal/admin"
)

// At a terminal, top is drawn again until the operator ends it, and has no more lines than the terminal.
func TestTopAtATerminal(t *testing.T) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer user.Close()
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 8, Col: 60}); err != nil {
		t.Fatal(err)
	}
	h := hosted(t)
	var loads []admin.Load
	for i := range 40 {
		loads = append(loads, admin.Load{Tenant: fmt.Sprintf("t%02d", i)})
	}
	h.SetLoads(loads...)
	cmd := exec.Command("wasmres", "top", "--socket", h.Serve(t))
	cmd.Stdout, cmd.Stderr = tty, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var shown []byte
	for bytes.Count(shown, []byte("\x1b[H\x1b[J")) < 3 {
		b := make([]byte, 4096)
		n, err := user.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b[:n]...)
	}
	screen := bytes.Split(shown, []byte("\x1b[H\x1b[J"))[1]
	if lines := bytes.Count(screen, []byte("\n")); lines > 7 || !bytes.Contains(screen, []byte("t03 ")) || bytes.Contains(screen, []byte("t04 ")) {
		t.Errorf("%d lines: %s", lines, screen)
	}
	for line := range bytes.Lines(screen) {
		if n := len([]rune(string(bytes.TrimSpace(line)))); n > 60 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ended with %v", err)
	}
}
