package providers

import (
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
)

// WithQuietLog has a command log from warnings up, unless it is told otherwise: what providers say while they are read, over
// and over, is not what was asked for.
func WithQuietLog(cmd *cli.Command) *cli.Command {
	for _, f := range cmd.Flags {
		if level, ok := f.(*cli.StringFlag); ok && level.Name == "log-level" {
			level.Value = "warn"
		}
	}
	return cmd
}

// An Action looks at a provider. args are the file of the provider, or of the first of several, and the command's others.
type Action func(c *cli.Context, a *app.App, args []string) error

// NewCommand is a command that opens a provider to look at it, without serving it. names are its arguments behind the
// provider.
func NewCommand(cmd *cli.Command, look Action, names ...string) *cli.Command {
	return WithFlags(cmd, func(c *cli.Context) error {
		file, rest, err := Arguments(c, names...)
		if err != nil {
			return err
		}
		cfg, err := Config(c, file, cli.PlainLog)
		if err != nil {
			return err
		}
		return Run(c, []app.Config{cfg}, look, rest)
	})
}

// NewCombinedCommand is a command that opens several providers as one to look at them.
func NewCombinedCommand(cmd *cli.Command, look Action) *cli.Command {
	return WithFlags(cmd, func(c *cli.Context) error {
		files, err := Files(c)
		if err != nil {
			return err
		}
		configs, err := Configs(c, files, cli.PlainLog)
		if err != nil {
			return err
		}
		return Run(c, configs, look, nil)
	})
}

// WithFlags gives a command the flags of those that look.
func WithFlags(cmd *cli.Command, action cli.ActionFunc) *cli.Command {
	cmd.Flags = Flags(append(cmd.Flags, ApprovalsFlag())...)
	cmd.OnUsageError = cli.OnUsageError
	cmd.Action = func(c *cli.Context) error {
		if _, err := cli.OutputFormat(c); err != nil {
			return err
		}
		return action(c)
	}
	return cmd
}

// Run opens providers, and says of failures which request they were of.
func Run(c *cli.Context, configs []app.Config, look Action, rest []string) error {
	denied := &Denials{}
	for i := range configs {
		configs[i].Denied = denied.Add
	}
	a, err := OpenForReading(c, configs)
	if err != nil {
		return err
	}
	defer a.Close()
	args := append([]string{configs[0].File}, rest...)
	return explain(c, a, args, denied, look(c, a, args))
}
