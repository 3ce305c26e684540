package hosting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

// SessionCommand returns the command session.
func SessionCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "session", Usage: "show the open sessions of a tenant's clients",
		Description: `Clients of revisions of the protocol before 2026-07-28 have sessions. An ID is the beginning of the session's, as the
access log has it: it is of no use as a credential.`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the open sessions, by when they began", ArgsUsage: "TENANT",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listSessions,
			},
		},
	})
}

func listSessions(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		all, err := everyPage(func(cursor string) (admin.Page[admin.Session], error) { return s.Sessions(ctx, args[0], cursor) })
		if err != nil {
			return err
		}
		if format != cli.FormatTable {
			return cli.PrintValue(c.App.Writer, format, all)
		}
		var rows [][]string
		for _, one := range all {
			rows = append(rows, []string{
				one.ID, one.Principal, one.Revision, one.Began.UTC().Format(time.RFC3339), one.LastRequest.UTC().Format(time.RFC3339),
				strconv.Itoa(one.Streams), strings.TrimSpace(one.ClientName + " " + one.ClientVersion),
			})
		}
		return terminal.PrintTable(c.App.Writer, []string{"ID", "PRINCIPAL", "REVISION", "BEGAN", "LAST REQUEST", "STREAMS", "CLIENT"}, rows)
	})
}
