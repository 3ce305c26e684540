package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

// Command returns the command check.
func Command() *cli.Command {
	const category = "Checking"
	return &cli.Command{
		Name: "check", Usage: "find problems that clients of a provider would have", ArgsUsage: providers.ArgUsage,
		Description: `Lists all resources, directories and skills. Reads, twice each, samples of them and of the templates whose
variables have completions. Requests resources that do not exist. Reads may have effects: the provider decides.

The exit status is 1 if there is an error, or with --strict a warning. The rules:

` + ruleLines() + `
   wasmres check provider.wasm
   wasmres check --samples 0 --uri users://42 provider.wasm
   wasmres check --strict --output-format json provider.wasm

With --engines both each call, and each call of the recorded sessions in tests/*.txtar beside the
provider, also runs on the other engine, where what the host has answered is answered again. The
contents, the fuel and the fault must be the same. What differs is written to
differences in the folder of --data-dir: the module, and a session that wasmres test replays.

   wasmres check --engines both provider.wasm`,
		Flags: providers.Flags(
			cli.FormatFlag(cli.ReportFormats), providers.ApprovalsFlag(),
			&cli.IntFlag{
				Name: "samples", Category: category, Value: 100,
				Usage: "read at most `N` resources of the list and of each template, and all of the manifest; 0 reads all",
			},
			&cli.DurationFlag{
				Name: "max-time", Category: category, Value: 10 * time.Minute,
				Usage: "stop after this `TIME` and report what was found; 0 never stops",
			},
			&cli.StringSliceFlag{Name: "uri", Category: category, Usage: "also read this `URI`; may be repeated"},
			cli.Choice(&cli.StringFlag{Name: "engines", Category: category, Value: "one", Usage: "run calls on `ENGINES`: one, or both, whose answers, fuel and faults must be the same; both needs a program that was built with wasmtime"}, "one", "both"),
			&cli.BoolFlag{Name: "strict", Category: category, Usage: "treat warnings as errors"},
		),
		OnUsageError: cli.OnUsageError,
		Action:       checkProvider,
	}
}

func ruleLines() string {
	var b strings.Builder
	for _, r := range check.Rules() {
		fmt.Fprintf(&b, "   %-20s %-8s %s\n", r.Name, r.Severity, r.Broken)
	}
	return b.String()
}

func checkProvider(c *cli.Context) error {
	file, _, err := providers.Arguments(c)
	if err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if c.Int("samples") < 0 {
		return cli.Usagef(c, "--samples %d: it must be 0 or more", c.Int("samples"))
	}
	if c.Duration("max-time") < 0 {
		return cli.Usagef(c, "--max-time %v: it must be 0 or more", c.Duration("max-time"))
	}
	for _, uri := range c.StringSlice("uri") {
		if err := abi.CheckURI(uri); err != nil {
			return cli.Usagef(c, "--uri: %w", err)
		}
	}
	cfg, err := providers.Config(c, file, cli.PlainLog)
	if err != nil {
		return err
	}
	denied := &providers.Denials{}
	cfg.Denied = denied.Add
	engines := newComparison(c)
	engines.apply(&cfg)
	a, err := providers.OpenForReading(c, []app.Config{cfg})
	if err != nil {
		return err
	}
	defer a.Close()
	report, err := check.Run(c.Context, check.Config{
		Source: a.Provider().Source(), Manifest: a.Provider().Manifest(),
		Samples: c.Int("samples"), URIs: c.StringSlice("uri"), MaxTime: c.Duration("max-time"),
	})
	if err != nil {
		return err
	}
	if err := engines.finish(c, cfg, report); err != nil {
		return err
	}
	all := denied.Take()
	for _, d := range all {
		d.Grant = strings.ReplaceAll(d.Grant, check.NoSuch, policy.PlaceholderHost) // an operator has no use for that host
		a.Warn(d.String())
	}
	if report.Read == 0 {
		a.WarnMissingGrants()
	}
	if err := printReport(c.App.Writer, format, report); err != nil {
		return err
	}
	return verdict(report, c.Bool("strict"), len(all) > 0)
}

// verdict returns an error if the provider has not passed. isDenied says that a call of it was denied.
func verdict(r *check.Report, strict, isDenied bool) error {
	switch {
	case r.Errors > 0:
		return fmt.Errorf("check: %s found, see above", terminal.Counted(r.Errors, "error"))
	case strict && r.Warnings > 0:
		return fmt.Errorf("check: %s found, see above", terminal.Counted(r.Warnings, "warning"))
	case strict && r.Read == 0 && isDenied:
		return errors.New("check: no resource could be read, since a grant is missing: see above")
	case strict && r.Read == 0 && len(r.Unsampled) > 0:
		return errors.New("check: no resource was read: grant what the provider requests, or name a resource with --uri")
	}
	return nil
}

func printReport(w io.Writer, format string, r *check.Report) error {
	if format != cli.FormatTable {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return cli.PrintData(w, format, text)
	}
	for rest := r.Findings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Rule == rest[0].Rule {
			n++
		}
		printFindings(w, rest[:n], r.Omitted[rest[0].Rule])
		rest = rest[n:]
	}
	for _, u := range r.Unsampled {
		fmt.Fprintf(w, "not read: %s\n  %s; name one of its resources with --uri\n\n", printable.Line(u.Template), printable.Line(u.Why))
	}
	_, err := fmt.Fprintf(w, "%s, %s; %s listed, %s, %s%d read\n", terminal.Counted(r.Errors, "error"), terminal.Counted(r.Warnings, "warning"),
		terminal.Counted(r.Listed, "resource"), terminal.Counted(r.Templates, "template"), treeCounts(r), r.Read)
	return err
}

// treeCounts says how many directories and skills there are, if there are any.
func treeCounts(r *check.Report) (s string) {
	if r.Directories > 0 {
		s = directories(r.Directories) + ", "
	}
	if r.Skills > 0 {
		s += terminal.Counted(r.Skills, "skill") + ", "
	}
	return s
}

func directories(n int) string {
	if n == 1 {
		return "1 directory"
	}
	return fmt.Sprintf("%d directories", n)
}

// printFindings prints the findings of one rule.
func printFindings(w io.Writer, findings []check.Finding, omitted int) {
	first := findings[0]
	fmt.Fprintf(w, "%s %s: %s\n", first.Severity, first.Rule, summaryOf(first.Rule))
	where := ""
	for _, f := range findings {
		if f.Where != where {
			where = f.Where
			fmt.Fprintf(w, "  %s\n", printable.Line(where))
		}
		fmt.Fprintf(w, "      %s\n", printable.Line(f.Problem))
	}
	if omitted > 0 {
		fmt.Fprintf(w, "  and %d more\n", omitted)
	}
	fmt.Fprintf(w, "  → %s\n\n", first.Advice)
}

func summaryOf(rule string) string {
	all := check.Rules()
	return all[slices.IndexFunc(all, func(r check.Rule) bool { return r.Name == rule })].Broken
}
