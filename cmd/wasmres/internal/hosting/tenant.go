package hosting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

// TenantCommand returns the command tenant.
func TenantCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "tenant", Usage: "list and show the tenants of a running server",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the tenants",
				Flags: serverFlags(
					&cli.BoolFlag{Name: "stale", Usage: "only those whose files are wrong; they are served as they last were, if they ever were right"},
					cli.FormatFlag(cli.ReportFormats),
				),
				OnUsageError: cli.OnUsageError, Action: listTenants,
			},
			{
				Name: "show", Usage: "show a tenant with its roles and providers", ArgsUsage: "TENANT",
				Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
				OnUsageError: cli.OnUsageError, Action: showTenant,
			},
		},
	})
}

func listTenants(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		list, err := everyPage(func(cursor string) (admin.Page[admin.TenantSummary], error) {
			return s.Tenants(ctx, cursor, c.Bool("stale"))
		})
		if err != nil {
			return err
		}
		if format != cli.FormatTable {
			return cli.PrintValue(c.App.Writer, format, list)
		}
		var rows [][]string
		for _, t := range list {
			rows = append(rows, []string{
				t.ID, t.Plan, string(t.Owner), fmt.Sprintf("%d/%d", t.Live, t.Providers), strconv.Itoa(t.Keys), stateOf(&t), t.Problem,
			})
		}
		return terminal.PrintTable(c.App.Writer, []string{"TENANT", "PLAN", "OWNER", "LIVE", "KEYS", "STATE", "PROBLEM"}, rows)
	})
}

// stateOf says how a tenant is served.
func stateOf(t *admin.TenantSummary) string {
	switch {
	case t.Disabled:
		return "disabled"
	case t.Problem != "" && t.Plan == "":
		return "not served"
	case t.Problem != "":
		return "stale"
	}
	return "served"
}

func showTenant(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		t, err := s.Tenant(ctx, args[0])
		if err != nil {
			return err
		}
		if format != cli.FormatTable {
			return cli.PrintValue(c.App.Writer, format, t)
		}
		return printTenant(c, &t)
	})
}

func printTenant(c *cli.Context, t *admin.Tenant) error {
	table := terminal.NewTable(c.App.Writer)
	for _, row := range [][2]string{
		{"tenant", t.ID}, {"state", stateOf(&t.TenantSummary)}, {"problem", t.Problem}, {"plan", t.Plan}, {"owner", string(t.Owner)},
		{"hosts", strings.Join(t.Hosts, " ")}, {"origins", strings.Join(t.Origins, " ")}, {"roles", strings.Join(t.Roles, " ")},
		{"anonymous", strings.Join(t.Anonymous, " ")}, {"keys", strconv.Itoa(t.Keys)},
	} {
		if row[1] != "" {
			table.Row(row[0], row[1])
		}
	}
	if err := table.Flush(); err != nil || len(t.Modules) == 0 {
		return err
	}
	fmt.Fprintln(c.App.Writer)
	var rows [][]string
	for _, p := range t.Modules {
		rows = append(rows, []string{p.Name, p.State, p.Module, p.Reason})
	}
	return terminal.PrintTable(c.App.Writer, []string{"PROVIDER", "STATE", "MODULE", "REASON"}, rows)
}

// ReloadCommand returns the command reload.
func ReloadCommand() *cli.Command {
	return &cli.Command{
		Name: "reload", Usage: "have a running server read its configuration again",
		Description: `Says what has changed. Tenants whose files did not change notice nothing. A tenant whose files are wrong is
served as it last was; then the exit status is 1. An error in serve.yaml changes nothing.`,
		Flags:        serverFlags(cli.FormatFlag(cli.ReportFormats)),
		OnUsageError: cli.OnUsageError, Action: reload,
	}
}

func reload(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		r, err := s.Reload(ctx)
		if err != nil {
			return err
		}
		if format == cli.FormatTable {
			printReport(c, &r)
		} else if err := cli.PrintValue(c.App.Writer, format, r); err != nil {
			return err
		}
		if len(r.Problems) > 0 {
			return fmt.Errorf("the files of %s are wrong: 'wasmres tenant list --stale' lists them", terminal.Numbered(len(r.Problems), "tenant", "tenants"))
		}
		return nil
	})
}

func printReport(c *cli.Context, r *admin.Report) {
	fmt.Fprintf(c.App.Writer, "generation %d, %s, in %d ms\n", r.Generation, terminal.Counted(r.Tenants, "tenant"), r.TookMillis)
	table := terminal.NewTable(c.App.Writer)
	for _, id := range r.Set {
		table.Row("set", id)
	}
	for _, id := range r.Removed {
		table.Row("removed", id)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Problems)) {
		table.Row("stale", id+": "+r.Problems[id])
	}
	for _, setting := range r.Restart {
		table.Row("restart", "the server, to put "+setting+" in force")
	}
	_ = table.Flush()
}
