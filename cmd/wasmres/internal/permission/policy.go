package permission

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/strict"
)

// PolicyCommand returns the command policy.
func PolicyCommand() *cli.Command {
	return cli.Group(&cli.Command{
		Name: "policy", Usage: "check, explain and import policy files, which say what a provider may touch",
		Description: `A policy is a YAML file:

   # yaml-language-server: $schema=./policy.schema.json
   version: "1.0"
   permissions:
     storage:
       allow:
         - {uri: "fs://notes/**", access: [read]}
     network:
       allow:
         - {host: api.example.org, methods: [GET], paths: [/v1]}

Flags like --dir and --net are short for one. A policy denies what it does not allow.`,
		Subcommands: []*cli.Command{
			{
				Name: "check", Usage: "print the errors in a policy, or what it permits", ArgsUsage: "POLICY.yaml",
				Flags:        []cli.Flag{cli.FormatFlag(cli.ReportFormats)},
				OnUsageError: cli.OnUsageError, Action: checkPolicy,
			},
			{
				Name: "explain", Usage: "print whether a policy permits a request, and by which rule", ArgsUsage: "POLICY.yaml METHOD URL",
				Description: `The exit status is 1 if it does not.

   wasmres policy explain policy.yaml GET https://api.example.org/v1/users
   wasmres policy explain policy.yaml read fs:/data/notes.txt
   wasmres policy explain policy.yaml read env:LANG`,
				OnUsageError: cli.OnUsageError, Action: explainPolicy,
			},
			{
				Name: "schema", Usage: "print the JSON Schema of policies, for editors",
				Description: `   wasmres policy schema > policy.schema.json

An editor with a YAML language server uses it for files that begin with

   # yaml-language-server: $schema=./policy.schema.json`,
				OnUsageError: cli.OnUsageError, Action: printPolicySchema,
			},
			{
				Name: "import", Usage: "convert an Extism manifest or a configuration of hyper-mcp to a policy", ArgsUsage: "FILE",
				Description: `Prints the policy, and on standard error what could not be converted. If the configuration has
several plugins, name one with --plugin.

   wasmres policy import manifest.json > policy.yaml
   wasmres policy import --plugin fetch config.yaml > policy.yaml`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "plugin", Usage: "convert the plugin with this `NAME`"},
				},
				OnUsageError: cli.OnUsageError, Action: importPolicy,
			},
		},
	})
}

// A policyReport has the errors of a policy file, or what it permits.
type policyReport struct {
	Problems []policyProblem `json:"problems"`
	Permits  []string        `json:"permits"`
	Notes    []string        `json:"notes"`
}

type policyProblem struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

func checkPolicy(c *cli.Context) error {
	args, err := cli.Arguments(c, "POLICY.yaml")
	if err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	report := policyReport{Problems: []policyProblem{}, Permits: []string{}, Notes: []string{}}
	p, err := policy.Load(args[0])
	problems := strict.ProblemsOf(err)
	if err != nil && len(problems) == 0 {
		return err
	}
	for _, found := range problems {
		report.Problems = append(report.Problems, policyProblem{found.Line, found.Column, found.Text})
	}
	if p != nil {
		report.Permits, report.Notes = append(report.Permits, p.Lines()...), append(report.Notes, p.Notes()...)
	}
	if format != cli.FormatTable {
		if err := cli.PrintValue(c.App.Writer, format, report); err != nil {
			return err
		}
	} else {
		printPolicy(c.App.Writer, args[0], p, problems)
	}
	if len(problems) > 0 {
		return fmt.Errorf("policy check: %s found, see above", terminal.Counted(len(problems), "problem"))
	}
	return nil
}

func printPolicy(w io.Writer, file string, p *policy.Policy, problems strict.Problems) {
	for _, found := range problems {
		fmt.Fprintln(w, printable.Text(found.Error()))
	}
	if p == nil {
		return
	}
	providers.PrintPermitted(w, file+" permits a provider to", p)
	for _, note := range p.Notes() {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

func explainPolicy(c *cli.Context) error {
	args, err := cli.Arguments(c, "POLICY.yaml", "METHOD", "URL")
	if err != nil {
		return err
	}
	p, err := policy.Load(args[0])
	if err != nil {
		return err
	}
	v, err := policy.Explain(p, args[1], args[2], matchRequest)
	if err != nil {
		return cli.Usagef(c, "%w", err)
	}
	if v.Rule != "" {
		fmt.Fprintf(c.App.Writer, "rule     %s\n", printable.Line(v.Rule))
	}
	if v.Allowed {
		fmt.Fprintf(c.App.Writer, "allowed  %s\n", printable.Line(v.Why))
		return nil
	}
	fmt.Fprintf(c.App.Writer, "refused  %s\n", printable.Line(v.Why))
	for _, alone := range p.Near(args[2]) {
		fmt.Fprintf(c.App.Writer, "there is %s\n", printable.Line(alone))
	}
	return errors.New("policy explain: the policy refuses it, see above")
}

func printPolicySchema(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	_, err := c.App.Writer.Write(policy.Schema())
	return err
}

func importPolicy(c *cli.Context) error {
	args, err := cli.Arguments(c, "FILE")
	if err != nil {
		return err
	}
	found, err := policy.ImportFile(args[0])
	if err != nil {
		return err
	}
	one, err := chosenImport(c, found)
	if err != nil {
		return err
	}
	for _, lost := range one.Lost {
		fmt.Fprintf(c.App.ErrWriter, "not converted as it is: %s\n", printable.Line(lost))
	}
	_, err = c.App.Writer.Write(one.Policy.Format())
	return err
}

func chosenImport(c *cli.Context, found []policy.Import) (*policy.Import, error) {
	wanted := c.String("plugin")
	var names []string
	for i := range found {
		if len(found) == 1 && wanted == "" || wanted != "" && found[i].Name == wanted {
			return &found[i], nil
		}
		names = append(names, found[i].Name)
	}
	if wanted == "" {
		return nil, cli.Usagef(c, "there are several plugins: name one with --plugin, of %s", printable.Line(strings.Join(names, ", ")))
	}
	return nil, cli.Usagef(c, "--plugin %s: there is no such plugin, there are %s", wanted, printable.Line(strings.Join(names, ", ")))
}
