package hosting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
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
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.Session], error) {
		return s.Sessions(ctx, args[0], cursor)
	}
	return printList(c, next, []string{"ID", "PRINCIPAL", "REVISION", "BEGAN", "LAST REQUEST", "STREAMS", "CLIENT"}, func(one *admin.Session) []string {
		return []string{
			one.ID, one.Principal, one.Revision, one.Began.UTC().Format(time.RFC3339), one.LastRequest.UTC().Format(time.RFC3339),
			strconv.Itoa(one.Streams), strings.TrimSpace(one.ClientName + " " + one.ClientVersion),
		}
	})
}
