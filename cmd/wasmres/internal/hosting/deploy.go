package hosting

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/machine"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
)

// DeployCommand returns the command deploy.
func DeployCommand() *cli.Command {
	return &cli.Command{
		Name: "deploy", Usage: "push a version of a provider to a running server", ArgsUsage: "TENANT/PROVIDER FILE|REFERENCE",
		Description: `The server admits, compiles and tries the module. If it asks for no more than was granted before, it
serves at once, or as the canary; otherwise it waits for 'wasmres approve'. The provider stands in the
file of the tenant without the key module.

   wasmres deploy acme/notes notes.wasm --wait
   wasmres deploy acme/notes notes.wasm --canary 10%

With --wait, the command ends when the version serves all clients, when it waits for an operator, or when
it is refused. With --canary it goes on until the canary is promoted, or taken back. The exit status is 1
if the version is refused or taken back, or if --timeout passes.`,
		Flags: serverFlags(
			&cli.StringFlag{Name: "canary", Usage: "serve this `SHARE` of the clients, as 10%, and leave the others where they are"},
			&cli.DurationFlag{Name: "promote-after", Usage: "promote the canary by itself when it has served for this `TIME`, with 50 calls or more, and was not taken back"},
			&cli.StringFlag{Name: "policy", Usage: "let the version do what this policy `FILE` says (default: what its manifest requests)"},
			&cli.BoolFlag{Name: "approve", Usage: "approve it now, whatever it asks for"},
			&cli.BoolFlag{Name: "wait", Usage: "wait until the version serves all clients, waits for an operator, or is refused or taken back"},
			&cli.DurationFlag{Name: "timeout", Value: time.Hour, Usage: "with --wait, wait no longer than this `TIME`"},
			cli.FormatFlag(cli.ReportFormats),
		),
		OnUsageError: cli.OnUsageError, Action: deploy,
	}
}

// ApproveCommand returns the command approve.
func ApproveCommand() *cli.Command {
	return &cli.Command{
		Name: "approve", Usage: "approve a version that waits", ArgsUsage: "TENANT/PROVIDER@VERSION",
		Flags: serverFlags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError,
		Action: onVersion(func(ctx context.Context, s *admin.Client, of versionName) (admin.Version, error) {
			v, err := s.Version(ctx, of.tenant, of.provider, of.number)
			if err != nil {
				return admin.Version{}, err
			}
			return s.ApproveVersion(ctx, of.tenant, of.provider, of.number, v.Tag)
		}),
	}
}

// RejectCommand returns the command reject.
func RejectCommand() *cli.Command {
	return &cli.Command{
		Name: "reject", Usage: "have a version never run", ArgsUsage: "TENANT/PROVIDER@VERSION",
		Flags:        serverFlags(&cli.StringFlag{Name: "reason", Usage: "the `TEXT` that its deployer sees"}, cli.FormatFlag(cli.ReportFormats)),
		OnUsageError: cli.OnUsageError,
		Action: func(c *cli.Context) error {
			return onVersion(func(ctx context.Context, s *admin.Client, of versionName) (admin.Version, error) {
				v, err := s.Version(ctx, of.tenant, of.provider, of.number)
				if err != nil {
					return admin.Version{}, err
				}
				return s.RejectVersion(ctx, of.tenant, of.provider, of.number, c.String("reason"), v.Tag)
			})(c)
		},
	}
}

// VersionCommand returns the command version.
func VersionCommand() *cli.Command {
	group := cli.Group(&cli.Command{
		Name: "version", Usage: "show the version of this program; list and show those of a deployed provider",
		Description: `Alone, it shows the version and commit of this program, the engine that runs providers, and the layers of
isolation that this machine supports. 'wasmres doctor' tries them.

   wasmres version
   wasmres version --output-format json
   wasmres version list acme/notes`,
		Flags: []cli.Flag{cli.FormatFlag(cli.ReportFormats)},
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the versions, the newest first", ArgsUsage: "TENANT/PROVIDER",
				Flags: serverFlags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError, Action: listVersions,
			},
			{
				Name: "show", Usage: "show a version with what it asks for", ArgsUsage: "TENANT/PROVIDER@VERSION",
				Flags: serverFlags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError,
				Action: onVersion(func(ctx context.Context, s *admin.Client, of versionName) (admin.Version, error) {
					v, err := s.Version(ctx, of.tenant, of.provider, of.number)
					return v, err
				}),
			},
		},
	})
	unknown := group.Action
	group.Action = func(c *cli.Context) error {
		if c.NArg() > 0 {
			return unknown(c)
		}
		return machine.ShowVersion(c)
	}
	return group
}

// A numbered says whether an argument has the number of a version after its provider.
type numbered int

const (
	mustNotHaveNumber numbered = iota
	mayHaveNumber
	mustHaveNumber
)

// A versionName is what an argument names; number is 0 for a provider.
type versionName struct {
	tenant, provider string
	number           int
}

// parseVersion parses TENANT/PROVIDER, or TENANT/PROVIDER@VERSION, as number says.
func parseVersion(c *cli.Context, arg string, number numbered) (of versionName, err error) {
	name, text, hasNumber := strings.Cut(arg, "@")
	of.tenant, of.provider, _ = strings.Cut(name, "/")
	if hasNumber {
		of.number, err = strconv.Atoi(text)
	}
	switch {
	case of.tenant == "" || of.provider == "" || strings.Contains(of.provider, "/"):
		return of, cli.Usagef(c, "%q names no provider: write TENANT/PROVIDER, as acme/notes", arg)
	case (hasNumber || number == mustHaveNumber) && number != mustNotHaveNumber && (err != nil || of.number < 1):
		return of, cli.Usagef(c, "%q names no version: write TENANT/PROVIDER@VERSION, as acme/notes@7", arg)
	case number == mustNotHaveNumber && hasNumber:
		return of, cli.Usagef(c, "%q names a version: write %s", arg, name)
	}
	return of, nil
}

// formatAndVersion returns the format of the output, and what the only argument names.
func formatAndVersion(c *cli.Context, number numbered) (format string, of versionName, err error) {
	if format, err = cli.OutputFormat(c); err != nil {
		return "", of, err
	}
	name := "TENANT/PROVIDER"
	switch number {
	case mayHaveNumber:
		name += "[@VERSION]"
	case mustHaveNumber:
		name += "@VERSION"
	}
	args, err := cli.Arguments(c, name)
	if err != nil {
		return "", of, err
	}
	of, err = parseVersion(c, args[0], number)
	return format, of, err
}

// onVersion is the action of a command that asks for, or changes, one version.
func onVersion(do func(context.Context, *admin.Client, versionName) (admin.Version, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		format, of, err := formatAndVersion(c, mustHaveNumber)
		if err != nil {
			return err
		}
		return ask(c, func(ctx context.Context, s *admin.Client) error {
			v, err := do(ctx, s, of)
			if err != nil {
				return err
			}
			return printVersion(c, format, &v)
		})
	}
}

func listVersions(c *cli.Context) error {
	format, of, err := formatAndVersion(c, mustNotHaveNumber)
	if err != nil {
		return err
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		p, err := s.Versions(ctx, of.tenant, of.provider)
		if err != nil {
			return err
		}
		if format != cli.FormatTable {
			return cli.PrintValue(c.App.Writer, format, p.Items)
		}
		var rows [][]string
		for _, v := range p.Items {
			rows = append(rows, []string{
				strconv.Itoa(v.Number), string(v.State), v.Route, terminal.Size(uint64(v.Size)), v.Created.UTC().Format(time.RFC3339), v.Creator, v.Reason,
			})
		}
		return terminal.PrintTable(c.App.Writer, []string{"VERSION", "STATE", "ROUTE", "SIZE", "PUSHED", "BY", "REASON"}, rows)
	})
}

// printVersion prints a version, as a table has it.
func printVersion(c *cli.Context, format string, v *admin.Version) error {
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, v)
	}
	table := terminal.NewTable(c.App.Writer)
	table.Row("version", fmt.Sprintf("%d  %s  %s%s", v.Number, v.Digest[:min(len(v.Digest), 19)]+"…", terminal.Size(uint64(v.Size)), workOn(v)))
	isNew := map[string]bool{}
	for _, line := range v.More {
		isNew[line] = true
	}
	for _, line := range v.Asks {
		if isNew[line] {
			line += " (new)"
		}
		table.Row("asks", line)
	}
	for _, line := range reasonsOf(v) {
		table.Row("because", line)
	}
	state := string(v.State)
	switch {
	case v.Route != "":
		state = v.Route
	case v.State == tenant.StateWaiting:
		state = fmt.Sprintf("waiting: wasmres approve %s/%s@%d", v.Tenant, v.Provider, v.Number)
	}
	table.Row("state", state)
	if v.Reason != "" {
		table.Row("reason", v.Reason)
	}
	return table.Flush()
}

func deploy(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	args, err := cli.Arguments(c, "TENANT/PROVIDER", "FILE|REFERENCE")
	if err != nil {
		return err
	}
	of, err := parseVersion(c, args[0], mustNotHaveNumber)
	if err != nil {
		return err
	}
	asked, err := newVersion(c)
	if err != nil {
		return err
	}
	var module io.Reader
	if references.IsReference(args[1]) {
		asked.Reference = args[1]
	} else {
		f, err := os.Open(args[1])
		if err != nil {
			return err
		}
		defer f.Close()
		module = f
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		v, err := s.PushVersion(ctx, of.tenant, of.provider, asked, module)
		if err == nil && c.Bool("wait") {
			return await(c, s, format, v, asked.Next == "canary")
		}
		if err != nil {
			return err
		}
		if err := printVersion(c, format, &v); err != nil {
			return err
		}
		return failureOf(&v)
	})
}

// failureOf returns the error of a version that never serves clients by itself.
func failureOf(v *admin.Version) error {
	switch v.State {
	case tenant.StateRefused, tenant.StateRejected, tenant.StateFailed:
		return fmt.Errorf("version %d is %s: %s", v.Number, v.State, v.Reason)
	}
	return nil
}

// newVersion is what the flags say of a version.
func newVersion(c *cli.Context) (n admin.NewVersion, err error) {
	n.Next, n.Approve = "promote", c.Bool("approve")
	if given := c.String("canary"); given != "" {
		n.Next = "canary"
		if n.Share, err = strconv.Atoi(strings.TrimSuffix(given, "%")); err != nil || n.Share < 0 || n.Share > 100 {
			return n, cli.Usagef(c, "--canary %s: write a share of the clients from 0%% to 100%%, as 10%%", given)
		}
	}
	if after := c.Duration("promote-after"); after != 0 {
		if n.Next != "canary" || after < time.Second {
			return n, cli.Usagef(c, "--promote-after %v: it is a second or more, and of a --canary", after)
		}
		n.PromoteAfter = int64(after / time.Second)
	}
	if c.Duration("timeout") <= 0 || c.IsSet("timeout") && !c.Bool("wait") {
		return n, cli.Usagef(c, "--timeout %v: it is more than 0, and of --wait", c.Duration("timeout"))
	}
	if file := c.String("policy"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return n, err
		}
		n.Policy = string(text)
	}
	return n, nil
}
