package hosting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

// TenantCommand returns the command tenant.
func TenantCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "tenant", Usage: "list, show, make and change the tenants of a running server",
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
			{
				Name: "new", Usage: "make a tenant that has no file", ArgsUsage: "TENANT",
				Description: `Reads from --from what the file of a tenant would have, or - for standard input. Without it the tenant has no
providers and no roles yet.`,
				Flags: serverFlags(
					&cli.StringFlag{Name: "from", Usage: "read the tenant from this `FILE`; - is standard input"},
					&cli.StringFlag{Name: "plan", Usage: "the `PLAN` that bounds the tenant, without --from (default: default)"},
				),
				OnUsageError: cli.OnUsageError, Action: newTenant,
			},
			{
				Name: "set", Usage: "change a tenant that has no file", ArgsUsage: "TENANT FILE",
				Description:  `FILE has what the file of the tenant would have; - is standard input.`,
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: setTenant,
			},
			tenantVerb("disable", "refuse every request of a tenant's clients", func(ctx context.Context, s *admin.Client, id string) error {
				_, err := s.DisableTenant(ctx, id, true)
				return err
			}),
			tenantVerb("enable", "serve a tenant again that was disabled", func(ctx context.Context, s *admin.Client, id string) error {
				_, err := s.DisableTenant(ctx, id, false)
				return err
			}),
			tenantVerb("remove", "remove a tenant, whose ID stays taken for 30 days", func(ctx context.Context, s *admin.Client, id string) error {
				return s.RemoveTenant(ctx, id)
			}),
			{
				Name: "export", Usage: "print a tenant as a file, with its policies in it", ArgsUsage: "TENANT",
				Flags:        serverFlags(),
				OnUsageError: cli.OnUsageError, Action: exportTenant,
			},
			{
				Name: "adopt", Usage: "have the files or the API own a tenant", ArgsUsage: "TENANT",
				Description: `A tenant is changed either by its file or by these commands and the API. To give it to files, write its file first:

   wasmres tenant export acme > tenants/acme.yaml
   wasmres tenant adopt acme --owner files

Once the API owns it, remove its file; until then the tenant is listed as stale.`,
				Flags:        serverFlags(cli.Choice(&cli.StringFlag{Name: "owner", Usage: "files or api"}, "files", "api")),
				OnUsageError: cli.OnUsageError, Action: adoptTenant,
			},
		},
	})
}

// tenantVerb returns a command that does one thing to a tenant.
func tenantVerb(name, usage string, do func(ctx context.Context, s *admin.Client, id string) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "TENANT", Flags: serverFlags(), OnUsageError: cli.OnUsageError,
		Action: func(c *cli.Context) error {
			args, err := cli.Arguments(c, "TENANT")
			if err != nil {
				return err
			}
			return ask(c, func(ctx context.Context, s *admin.Client) error {
				if err := do(ctx, s, args[0]); err != nil {
					return err
				}
				fmt.Fprintf(c.App.ErrWriter, "Tenant %s: %sd.\n", terminal.Cell(args[0]), name)
				return nil
			})
		},
	}
}

// readInput reads a file, or standard input for -, of at most the size of a file of a tenant.
func readInput(c *cli.Context, name string) ([]byte, error) {
	in := c.App.Reader
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, strict.MaxSize+1))
	if err == nil && len(text) > strict.MaxSize {
		return nil, fmt.Errorf("%s has more than %d bytes", name, strict.MaxSize)
	}
	return text, err
}

func newTenant(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	text := []byte("{}\n")
	if plan := c.String("plan"); plan != "" {
		text = fmt.Appendf(nil, "plan: %q\n", plan)
	}
	if from := c.String("from"); from != "" {
		if c.IsSet("plan") {
			return cli.Usagef(c, "--plan and --from exclude each other: the file has the plan")
		}
		if text, err = readInput(c, from); err != nil {
			return err
		}
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		made, err := s.NewTenant(ctx, args[0], text)
		var p *admin.Problem
		if errors.As(err, &p) && p.Status == http.StatusPreconditionFailed {
			return cli.Conflict(fmt.Errorf("there is a tenant %s already: 'wasmres tenant set' changes it", args[0]))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Tenant %s: made, with the plan %s.\n", terminal.Cell(made.ID), terminal.Cell(made.Plan))
		return nil
	})
}

func setTenant(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT", "FILE")
	if err != nil {
		return err
	}
	text, err := readInput(c, args[1])
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		_, err := s.SetTenant(ctx, args[0], text)
		if err == nil {
			fmt.Fprintf(c.App.ErrWriter, "Tenant %s: set.\n", terminal.Cell(args[0]))
		}
		return err
	})
}

func exportTenant(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		text, err := s.ExportTenant(ctx, args[0])
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}

func adoptTenant(c *cli.Context) error {
	args, err := cli.Arguments(c, "TENANT")
	if err != nil {
		return err
	}
	owner := tenant.Owner(c.String("owner"))
	if owner != tenant.OwnerFiles && owner != tenant.OwnerAPI {
		return cli.Usagef(c, "--owner: it is one of files, api")
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		t, err := s.AdoptTenant(ctx, args[0], owner)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "Tenant %s: owned by %s.\n", terminal.Cell(t.ID), terminal.Cell(string(t.Owner)))
		return nil
	})
}

func listTenants(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	next := func(ctx context.Context, s *admin.Client, cursor string) (admin.Page[admin.TenantSummary], error) {
		return s.Tenants(ctx, cursor, c.Bool("stale"))
	}
	return printList(c, next, []string{"TENANT", "PLAN", "OWNER", "LIVE", "KEYS", "STATE", "PROBLEM"}, func(t *admin.TenantSummary) []string {
		return []string{
			t.ID, t.Plan, string(t.Owner), fmt.Sprintf("%d/%d", t.Live, t.Providers), strconv.Itoa(t.Keys), stateOf(t), t.Problem,
		}
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
		rows = append(rows, []string{
			p.Name, p.State, servingText(&p), strconv.Itoa(p.Processes), terminal.Size(p.Memory), startText(&p), faultText(&p), p.Module, p.Reason,
		})
	}
	return terminal.PrintTable(c.App.Writer,
		[]string{"PROVIDER", "STATE", "VERSION", "PROCESSES", "MEMORY", "LAST START", "LAST FAULT", "MODULE", "REASON"}, rows)
}

// servingText says which versions of a provider serve.
func servingText(p *admin.Provider) string {
	switch {
	case p.Canary != 0:
		return fmt.Sprintf("%d, canary %d", p.Version, p.Canary)
	case p.Version != 0:
		return strconv.Itoa(p.Version)
	}
	return "-"
}

func startText(p *admin.Provider) string {
	if p.LastStart == nil {
		return "-"
	}
	return p.LastStart.UTC().Format(time.RFC3339)
}

func faultText(p *admin.Provider) string {
	if p.LastFault == nil {
		return "-"
	}
	return p.LastFault.Code + " " + p.LastFault.Time.UTC().Format(time.RFC3339)
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
