package hosting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/crashes"
)

// CrashCommand returns the command crash.
func CrashCommand() *cli.Command {
	return &cli.Command{
		Name: "crash", Usage: "show the crashes of hosted providers, and get what runs one again",
		Description: `A running server keeps each different crash of its tenants' providers: by the module, the code and the
functions that were running. If the file of the tenant has record_crashes: true for the provider, one call of each crash is
kept as a recorded session, which runs it again on any machine:

   wasmres crash list acme
   wasmres crash get 5d41402abc4b2a76 > crash.txtar
   wasmres test notes.wasm crash.txtar`,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list crashes, the last one first", ArgsUsage: "[TENANT]",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: listCrashes,
			},
			{
				Name: "get", Usage: "print the recorded session of a crash", ArgsUsage: "ID", Flags: serverFlags(),
				OnUsageError: cli.OnUsageError, Action: getCrash,
			},
		},
		OnUsageError: cli.OnUsageError,
	}
}

func listCrashes(c *cli.Context) error {
	if c.NArg() > 1 {
		return cli.Usagef(c, "one argument too many: %q", c.Args().Get(1))
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[crashes.Report], error) {
		return s.Crashes(ctx, c.Args().First(), cursor)
	}
	head := []string{"ID", "PROVIDER", "CODE", "COUNT", "LAST", "FUEL", "SESSION", "FUNCTIONS"}
	return printSorted(c, next, crashes.SortByLast, head, func(r *crashes.Report) []string {
		return []string{
			r.ID, r.Tenant + "/" + r.Provider, r.Code, strconv.FormatUint(r.Count, 10), r.Last.UTC().Format(time.RFC3339),
			strconv.FormatUint(r.Fuel, 10), sessionOf(r), stackOf(r),
		}
	})
}

// sessionOf says whether a crash can run again.
func sessionOf(r *crashes.Report) string {
	switch {
	case r.Session == 0:
		return "none"
	case r.Inexact != "":
		return "inexact"
	}
	return "exact"
}

// stackOf returns the functions on top of the stack.
func stackOf(r *crashes.Report) string {
	const most = 4
	var names []string
	for _, f := range r.Stack[:min(len(r.Stack), most)] {
		if f.Name == "" {
			f.Name = "function " + strconv.FormatUint(uint64(f.Function), 10)
		}
		names = append(names, f.Name)
	}
	if len(r.Stack) > most {
		names = append(names, "…")
	}
	return strings.Join(names, " < ")
}

func getCrash(c *cli.Context) error {
	args, err := cli.Arguments(c, "ID")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		text, err := s.CrashSession(ctx, args[0])
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}
