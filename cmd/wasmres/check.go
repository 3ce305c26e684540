package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/printable"
)

func checkCommand() *cli.Command {
	const category = "Checking"
	return &cli.Command{
		Name: "check", Usage: "say what clients of a provider would stumble over", ArgsUsage: providerArg,
		Description: `Lists all resources, reads samples of them and of the templates whose variables complete,
each twice, and asks for what is not there. Reads may have effects: the provider decides.

The exit status is 1 when an error was found, or with --strict a warning. The rules:

` + ruleLines() + `
   wasmres check provider.wasm
   wasmres check --samples 0 --uri users://42 provider.wasm
   wasmres check --strict --output-format json provider.wasm`,
		Flags: providerFlags(
			formatFlag(reportFormats), approvalsFlag(),
			&cli.IntFlag{
				Name: "samples", Category: category, Value: 100,
				Usage: "read at most `N` resources of the list and of each template, beside those of the manifest; 0 is for all",
			},
			&cli.DurationFlag{
				Name: "max-time", Category: category, Value: 10 * time.Minute,
				Usage: "end after this `TIME`, with what was found till then; 0 is for never",
			},
			&cli.StringSliceFlag{Name: "uri", Category: category, Usage: "read this `URI` too; may be repeated"},
			&cli.BoolFlag{Name: "strict", Category: category, Usage: "take warnings for errors"},
		),
		OnUsageError: onUsageError,
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
	file, _, err := providerArguments(c)
	if err != nil {
		return err
	}
	format, err := outputFormat(c)
	if err != nil {
		return err
	}
	if c.Int("samples") < 0 {
		return usagef(c, "--samples %d: it must be 0 or more", c.Int("samples"))
	}
	if c.Duration("max-time") < 0 {
		return usagef(c, "--max-time %v: it must be 0 or more", c.Duration("max-time"))
	}
	for _, uri := range c.StringSlice("uri") {
		if err := abi.CheckURI(uri); err != nil {
			return usagef(c, "--uri: %w", err)
		}
	}
	cfg, err := providerConfig(c, file, plainLog)
	if err != nil {
		return err
	}
	denied := &denials{}
	cfg.Denied = denied.add
	a, err := openView(c, []app.Config{cfg})
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
	all := denied.take()
	for _, d := range all {
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

// verdict is an error when the provider has not passed. isDenied says that it was denied a capability.
func verdict(r *check.Report, strict, isDenied bool) error {
	switch {
	case r.Errors > 0:
		return fmt.Errorf("check: %s found, see above", counted(r.Errors, "error"))
	case strict && r.Warnings > 0:
		return fmt.Errorf("check: %s found, see above", counted(r.Warnings, "warning"))
	case strict && r.Read == 0 && isDenied:
		return errors.New("check: nothing could be read, for want of a grant: see above")
	case strict && r.Read == 0 && len(r.Unsampled) > 0:
		return errors.New("check: nothing was read: grant the provider what it asks for, or name a resource with --uri")
	}
	return nil
}

func printReport(w io.Writer, format string, r *check.Report) error {
	if format != formatTable {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return printData(w, format, text)
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
	_, err := fmt.Fprintf(w, "%s, %s; %s listed, %s, %d read\n", counted(r.Errors, "error"), counted(r.Warnings, "warning"),
		counted(r.Listed, "resource"), counted(r.Templates, "template"), r.Read)
	return err
}

// printFindings prints those of one rule.
func printFindings(w io.Writer, findings []check.Finding, omitted int) {
	first := findings[0]
	fmt.Fprintf(w, "%s %s: %s\n", first.Severity, first.Rule, brokenBy(first.Rule))
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

func brokenBy(rule string) string {
	all := check.Rules()
	return all[slices.IndexFunc(all, func(r check.Rule) bool { return r.Name == rule })].Broken
}

// counted gives a number of things, as in "no errors" or "2 errors".
func counted(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
