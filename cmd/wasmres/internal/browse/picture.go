package browse

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/runtime"
)

// errNoPictures is the error on a terminal that draws no pictures.
var errNoPictures = errors.New("this terminal draws no pictures: kitty, iTerm2, WezTerm and terminals with sixel graphics do")

// shortest is how long a drawing lasts at least. bubbletea starts its renderer again after that, whose clock the goroutine of the
// renderer before stops when it ends: if that comes later, the screen never changes again.
const shortest = 200 * time.Millisecond

// A drawing shows a picture in the place of the viewer, until the user presses Enter. It implements [tea.ExecCommand].
type drawing struct {
	ctx     context.Context
	picture *runtime.Content
	out     io.Writer
}

// draw shows the picture of the resource, if it has one.
func (m *model) draw() tea.Cmd {
	if m.picture == nil {
		return nil
	}
	return tea.Exec(&drawing{ctx: m.ctx, picture: m.picture}, func(err error) tea.Msg {
		if err != nil {
			return noted(err.Error())
		}
		return nil
	})
}

// SetStdin implements [tea.ExecCommand].
func (*drawing) SetStdin(io.Reader) {}

// SetStdout implements [tea.ExecCommand].
func (d *drawing) SetStdout(w io.Writer) { d.out = w }

// SetStderr implements [tea.ExecCommand].
func (*drawing) SetStderr(io.Writer) {}

// Run implements [tea.ExecCommand].
func (d *drawing) Run() error {
	end := time.Now().Add(shortest)
	defer func() { time.Sleep(time.Until(end)) }()
	if !contents.Draw(d.out, d.picture) {
		return errNoPictures
	}
	console, err := terminal.OpenConsole()
	if err != nil {
		return err
	}
	defer console.Close()
	_, err = console.Line(d.ctx, "Enter: back ")
	return err
}
