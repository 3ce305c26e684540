package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
)

// Command returns the command browse.
func Command() *cli.Command {
	cmd := &cli.Command{
		Name: "browse", Usage: "look at a provider's resources on a terminal", ArgsUsage: providers.ArgUsage,
		Description: `Lists the resources and templates of a provider, and shows what you choose. The list and the resource follow
changes. The last line has the keys. Without a terminal, use 'list', 'templates' and 'read'.

   wasmres browse hello.wasm
   wasmres browse --dir .:/project:ro project.wasm`,
	}
	cmd.Flags = providers.Flags(providers.ApprovalsFlag())
	cmd.OnUsageError = cli.OnUsageError
	cmd.Action = func(c *cli.Context) error {
		file, _, err := providers.Arguments(c)
		if err != nil {
			return err
		}
		if !terminal.IsTerminal(c.App.Reader) || !terminal.CanRedraw(c.App.Writer) {
			return errors.New("browse needs a terminal on which it can draw (TERM is not dumb, and ACCESSIBLE is not set): use 'wasmres list', 'wasmres templates' and 'wasmres read'")
		}
		notes := &notes{}
		cfg, err := providers.Config(c, file, func(_ io.Writer, level slog.Level) slog.Handler { return cli.PlainLog(notes, level) })
		if err != nil {
			return err
		}
		return providers.Run(c, []app.Config{cfg}, func(c *cli.Context, a *app.App, args []string) error {
			return run(c, a, args[0], notes)
		}, nil)
	}
	return cmd
}

// run draws until the user leaves, or the context of the command ends.
func run(c *cli.Context, a *app.App, name string, notes *notes) error {
	ctx, cancel := context.WithCancel(c.Context)
	style := contents.NewStyle(c.App.Writer)
	m := newModel(ctx, a.Provider(), name, style)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.App.Reader), tea.WithOutput(c.App.Writer), tea.WithEnvironment(os.Environ()), tea.WithoutSignalHandler())
	notes.show(p.Send)
	follower := follow(ctx, a.Provider(), nil, func() { p.Send(listChanged{}) })
	m.send = p.Send
	_, err := p.Run()
	cancel() // ends reads and subscriptions, which are awaited before the provider is closed
	<-follower
	m.work.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	if err != nil {
		return fmt.Errorf("browse: %w", err)
	}
	return nil
}
