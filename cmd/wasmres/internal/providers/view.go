package providers

import (
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
)

// WithQuietLog changes the default of --log-level to warn, for commands that read again and again: the guest logs each
// time.
func WithQuietLog(cmd *cli.Command) *cli.Command {
	for _, f := range cmd.Flags {
		if level, ok := f.(*cli.ChoiceFlag); ok && level.Name == "log-level" {
			level.Value = "warn"
		}
	}
	return cmd
}

// An Action does what a command does, with an open provider. args are the file of the provider, or of the first of
// several, and the other arguments of the command.
type Action func(c *cli.Context, a *app.App, args []string) error

// NewCommand completes a command that opens one provider and does not serve it. names are those of its arguments after
// the provider.
func NewCommand(cmd *cli.Command, action Action, names ...string) *cli.Command {
	return WithFlags(cmd, func(c *cli.Context) error {
		file, rest, err := Arguments(c, names...)
		if err != nil {
			return err
		}
		cfg, err := Config(c, file, cli.PlainLog)
		if err != nil {
			return err
		}
		return Run(c, []app.Config{cfg}, action, rest)
	})
}

// NewCombinedCommand completes a command that opens one or several providers, as one.
func NewCombinedCommand(cmd *cli.Command, action Action) *cli.Command {
	return WithFlags(cmd, func(c *cli.Context) error {
		files, err := Files(c)
		if err != nil {
			return err
		}
		configs, err := Configs(c, files, cli.PlainLog)
		if err != nil {
			return err
		}
		return Run(c, configs, action, nil)
	})
}

// WithFlags completes a command: with its action, and all flags of commands that open a provider and do not serve it.
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

// Run opens providers, runs action and closes them. An error says which request failed, and what may help.
func Run(c *cli.Context, configs []app.Config, action Action, rest []string) error {
	denied := &Denials{}
	for i := range configs {
		configs[i].Denied = denied.Add
	}
	a, err := OpenForReading(c, configs)
	if err != nil {
		return err
	}
	defer a.Close()
	args := append([]string{configs[0].From.Name(configs[0].File)}, rest...)
	return explain(c, a, args, denied, action(c, a, args))
}
