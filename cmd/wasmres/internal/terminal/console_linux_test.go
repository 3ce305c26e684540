package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoterminal returns a console, and what the user types at.
func pseudoterminal(t *testing.T) (c *Console, user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { user.Close() })
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
	t.Cleanup(func() { tty.Close() })
	return &Console{tty}, user
}

// echoes reports whether the terminal shows what the user types.
func echoes(t *testing.T, c *Console) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// awaitPrompt reads what the terminal shows until the prompt is there.
func awaitPrompt(t *testing.T, user *os.File, prompt string) {
	t.Helper()
	var shown []byte
	for !bytes.Contains(shown, []byte(prompt)) {
		b := make([]byte, 256)
		n, err := user.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b[:n]...)
	}
}

func TestAnswersAtATerminal(t *testing.T) {
	c, user := pseudoterminal(t)
	for question, ask := range map[string]func() (string, error){
		"Name: ": func() (string, error) { return c.Line(t.Context(), "Name: ") },
		"Password: ": func() (string, error) {
			secret, err := c.Secret(t.Context(), "Password: ")
			return string(bytes.TrimSpace(secret)), err
		},
	} {
		go func() { _, _ = user.WriteString("ada lovelace\n") }()
		got, err := ask()
		if err != nil || string(bytes.TrimSpace([]byte(got))) != "ada lovelace" || !echoes(t, c) {
			t.Errorf("%s got %q, %v", question, got, err)
		}
	}
}

// A signal ends the wait for a secret, and the terminal then shows again what the user types.
func TestASignalEndsTheWaitForASecret(t *testing.T) {
	c, user := pseudoterminal(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("signal: interrupt")
	ended := make(chan error, 1)
	go func() {
		_, err := c.Secret(ctx, "Password: ")
		ended <- err
	}()
	awaitPrompt(t, user, "Password: ")
	for echoes(t, c) { // until the read has begun
	}
	cancel(stopped)
	if err := <-ended; !errors.Is(err, stopped) || !echoes(t, c) {
		t.Errorf("got %v, echo %v", err, echoes(t, c))
	}
	_, _ = user.WriteString("\n") // ends the goroutine that reads
}
