package hosting

import (
	"context"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/admin"
)

// LogsCommand returns the command logs.
func LogsCommand() *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "show what hosted providers log", ArgsUsage: "TENANT[/PROVIDER]",
		Description: `Shows the newest lines that providers have logged, or written to their standard output and error: those of
256 KiB for each tenant. With --follow it goes on with the lines that come, until Ctrl+C. Older lines are in the
folder tenants/TENANT/log of the server's data.`,
		Flags:        serverFlags(&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with the lines that come"}),
		OnUsageError: cli.OnUsageError, Action: showLogs,
	}
}

func showLogs(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT[/PROVIDER]")
	if err != nil {
		return err
	}
	tenantID, provider, _ := strings.Cut(args[0], "/")
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		return s.Logs(ctx, tenantID, provider, c.Bool("follow"), c.App.Writer)
	})
}
