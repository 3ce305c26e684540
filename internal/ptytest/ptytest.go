//go:build unix

// Package ptytest runs a program at a terminal, for tests: it types, and reads what the screen shows. No other package imports
// creack/pty and x/vt.
package ptytest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// A Terminal is one at which a program runs. One goroutine uses it.
type Terminal struct {
	tb    testing.TB
	tty   *os.File
	cmd   *exec.Cmd
	ended chan error // has the end of the program

	mu      sync.Mutex
	changed *sync.Cond
	screen  *vt.Emulator // guarded by mu
	output  []byte       // guarded by mu
	isOver  bool         // guarded by mu
}

// longest is how long a program may run. It may have to compile a provider on a busy machine.
const longest = 10 * time.Minute

// Attributes are what a terminal answers when a program asks for its primary attributes (DA1).
type Attributes string

// Kinds of terminals.
const (
	Sixels Attributes = "\x1b[?62;4;22c" // draws sixel graphics
	Silent Attributes = ""               // does not answer
)

// Start runs a program at a terminal of a size, for ten minutes at most. The test ends it. The terminal draws no sixel graphics
// unless its attributes are given.
func Start(tb testing.TB, cmd *exec.Cmd, columns, lines int, attributes ...Attributes) *Terminal {
	tb.Helper()
	t := &Terminal{tb: tb, cmd: cmd, screen: vt.NewEmulator(columns, lines), ended: make(chan error, 1)}
	for _, a := range attributes {
		t.screen.RegisterCsiHandler('c', func(ansi.Params) bool {
			_, err := io.WriteString(t.screen.InputPipe(), string(a))
			return err == nil
		})
	}
	t.changed = sync.NewCond(&t.mu)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(lines)})
	if err != nil {
		tb.Skipf("no terminal: %v", err)
	}
	t.tty = tty
	replies, shown := make(chan struct{}), make(chan struct{})
	go func() { // what the terminal answers to queries of the program
		defer close(replies)
		_, _ = io.Copy(tty, t.screen)
	}()
	go func() {
		defer close(shown)
		t.show()
		t.ended <- cmd.Wait()
	}()
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // the group: what a shell has started has the terminal, too
	end := time.AfterFunc(longest, kill)                                   // which ends all that waits for it
	tb.Cleanup(func() {
		end.Stop()
		kill()
		<-shown
		if answers, ok := t.screen.InputPipe().(io.Closer); ok { // Close of the screen would race with its Read
			_ = answers.Close()
		}
		<-replies
		_ = tty.Close()
	})
	return t
}

// show gives the screen what the program writes, until it has ended.
func (t *Terminal) show() {
	b := make([]byte, 32<<10)
	for {
		n, err := t.tty.Read(b)
		t.mu.Lock()
		t.output = append(t.output, b[:n]...)
		_, _ = t.screen.Write(b[:n])
		t.isOver = err != nil
		t.changed.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type sends keys.
func (t *Terminal) Type(keys string) {
	t.tb.Helper()
	if _, err := t.tty.WriteString(keys); err != nil {
		t.tb.Fatal(err)
	}
}

// Resize changes the size of the terminal.
func (t *Terminal) Resize(columns, lines int) {
	t.tb.Helper()
	t.mu.Lock()
	t.screen.Resize(columns, lines)
	t.mu.Unlock()
	if err := pty.Setsize(t.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(lines)}); err != nil {
		t.tb.Fatal(err)
	}
}

// Await waits until the screen satisfies a condition, and returns it. The test fails if the program ends before.
func (t *Terminal) Await(what string, isThere func(screen string) bool) string {
	t.tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		screen := t.screen.String()
		if isThere(screen) {
			return screen
		}
		if t.isOver {
			t.tb.Fatalf("the program ended before the screen had %s:\n%s", what, screen)
		}
		t.changed.Wait()
	}
}

// AwaitText waits until the screen has a text.
func (t *Terminal) AwaitText(text string) string {
	t.tb.Helper()
	return t.Await(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// Output returns all that the program has written.
func (t *Terminal) Output() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.output)
}

// Wait waits for the end of the program, and returns its error.
func (t *Terminal) Wait() error {
	t.tb.Helper()
	err := <-t.ended
	t.ended <- err
	return err
}
