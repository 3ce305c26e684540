package terminal

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"
)

// maxAnswer bounds an answer of the user, in bytes.
const maxAnswer = 1024

// A Console asks the user at the terminal of the process, whatever the standard streams are. One goroutine uses it; the caller
// closes it.
type Console struct{ tty *os.File }

// OpenConsole opens the terminal. It fails if the process has none.
func OpenConsole() (*Console, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &Console{tty}, nil
}

// Close releases the terminal.
func (c *Console) Close() error { return c.tty.Close() }

// Line shows a prompt and reads a line.
func (c *Console) Line(ctx context.Context, prompt string) (string, error) {
	line, err := c.ask(ctx, prompt, func() ([]byte, error) {
		b := make([]byte, maxAnswer+1) // a terminal gives one line to a read
		n, err := c.tty.Read(b)
		return b[:n], err
	})
	return string(line), err
}

// Secret shows a prompt and reads a line that the terminal does not show.
func (c *Console) Secret(ctx context.Context, prompt string) ([]byte, error) {
	fd := int(c.tty.Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	secret, err := c.ask(ctx, prompt, func() ([]byte, error) { return term.ReadPassword(fd) })
	if ctx.Err() != nil { // the read goes on until the process ends, and the user's shell needs the echo
		_ = term.Restore(fd, shown)
	}
	fmt.Fprintln(c.tty)
	return secret, err
}

// ask shows a prompt and calls read. When ctx ends, it returns the cause, and leaves a goroutine behind that reads.
func (c *Console) ask(ctx context.Context, prompt string, read func() ([]byte, error)) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if _, err := fmt.Fprint(c.tty, prompt); err != nil {
		return nil, err
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answers:
		if a.err == nil && len(a.text) > maxAnswer {
			return nil, fmt.Errorf("the line has more than %d bytes", maxAnswer)
		}
		return a.text, a.err
	}
}
