package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/strict"
)

func policyCommand() *cli.Command {
	return group(&cli.Command{
		Name: "policy", Usage: "look at policy files, which say what a provider may touch",
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

Flags like --dir and --net are short for one. What is not in it is denied.`,
		Subcommands: []*cli.Command{
			{
				Name: "check", Usage: "say what is wrong with a policy, or what it permits", ArgsUsage: "POLICY.yaml",
				Flags:        []cli.Flag{formatFlag(reportFormats)},
				OnUsageError: onUsageError, Action: checkPolicy,
			},
			{
				Name: "explain", Usage: "say whether a policy permits something, and by which rule", ArgsUsage: "POLICY.yaml METHOD URL",
				Description: `The exit status is 1 when it does not.

   wasmres policy explain policy.yaml GET https://api.example.org/v1/users
   wasmres policy explain policy.yaml read fs:/data/notes.txt
   wasmres policy explain policy.yaml read env:LANG`,
				OnUsageError: onUsageError, Action: explainPolicy,
			},
			{
				Name: "schema", Usage: "print the JSON Schema of policies, for editors",
				Description: `   wasmres policy schema > policy.schema.json

An editor with a YAML language server uses it for files that begin with

   # yaml-language-server: $schema=./policy.schema.json`,
				OnUsageError: onUsageError, Action: printPolicySchema,
			},
			{
				Name: "import", Usage: "make a policy of an Extism manifest or a configuration of hyper-mcp", ArgsUsage: "FILE",
				Description: `Prints the policy, and on standard error what could not be taken over. Of a configuration with
several plugins, name the one that is meant.

   wasmres policy import manifest.json > policy.yaml
   wasmres policy import --plugin fetch config.yaml > policy.yaml`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "plugin", Usage: "take the plugin of this `NAME`"},
				},
				OnUsageError: onUsageError, Action: importPolicy,
			},
		},
	})
}

// group makes a command of several. Without one of them it shows its help.
func group(c *cli.Command) *cli.Command {
	c.HideHelpCommand = true
	c.OnUsageError = onUsageError
	c.Action = func(ctx *cli.Context) error {
		name := ctx.Args().First()
		if name == "" || name == "help" {
			return cli.ShowSubcommandHelp(ctx)
		}
		var names []string
		for _, sub := range c.Subcommands {
			names = append(names, sub.Name)
		}
		return usagef(ctx, "there is no command %q: it is one of %s", c.Name+" "+name, strings.Join(names, ", "))
	}
	return c
}

// A policyReport is what is said of a policy file.
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
	args, err := arguments(c, "POLICY.yaml")
	if err != nil {
		return err
	}
	format, err := outputFormat(c)
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
	if format != formatTable {
		if err := printValue(c.App.Writer, format, report); err != nil {
			return err
		}
	} else {
		printPolicy(c.App.Writer, args[0], p, problems)
	}
	if len(problems) > 0 {
		return fmt.Errorf("policy check: %s found, see above", counted(len(problems), "problem"))
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
	printPermitted(w, file+" permits a provider to", p)
	for _, note := range p.Notes() {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

// printPermitted says under a head what a policy permits.
func printPermitted(w io.Writer, head string, p *policy.Policy) {
	lines := p.Lines()
	if len(lines) == 0 {
		fmt.Fprintf(w, "%s touch nothing\n", head)
		return
	}
	fmt.Fprintf(w, "%s\n", head)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", printable.Line(line))
	}
}

func explainPolicy(c *cli.Context) error {
	args, err := arguments(c, "POLICY.yaml", "METHOD", "URL")
	if err != nil {
		return err
	}
	p, err := policy.Load(args[0])
	if err != nil {
		return err
	}
	v, err := policy.Explain(p, args[1], args[2], matchRequest)
	if err != nil {
		return usagef(c, "%w", err)
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
	return errors.New("policy explain: it is refused, see above")
}

func printPolicySchema(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	_, err := c.App.Writer.Write(policy.Schema())
	return err
}

func importPolicy(c *cli.Context) error {
	args, err := arguments(c, "FILE")
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
		fmt.Fprintf(c.App.ErrWriter, "not taken over as it is: %s\n", printable.Line(lost))
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
		return nil, usagef(c, "there are several plugins: say which one with --plugin, of %s", printable.Line(strings.Join(names, ", ")))
	}
	return nil, usagef(c, "--plugin %s: there is no such plugin, there are %s", wanted, printable.Line(strings.Join(names, ", ")))
}

// grantFlags are those that grant capabilities, beside --dir and --config: together they are short for a policy.
func grantFlags() []cli.Flag {
	repeated := func(name, usage string) cli.Flag {
		return &cli.StringSliceFlag{Name: name, Category: categoryGrants, Usage: usage + "; may be repeated"}
	}
	return []cli.Flag{
		repeated("policy", "grant what this `FILE` says; flags add to it"),
		repeated("net", "grant requests to a server, as `URL`, which is https://HOST[:PORT][/PATH] or just HOST, for GET and HEAD or the methods before it, as in GET,POST:https://api.example.org"),
		repeated("env", "grant a variable of the environment, by its `NAME`"),
		repeated("secret", "let requests of the one --net carry a secret, as `NAME=SOURCE`, which is env:VARIABLE, file:PATH or keyring:SERVICE/USER"),
		repeated("sql", "grant reading from a database, as `NAME=DSN`, or env:VARIABLE or file:PATH in place of a DSN with a password"),
		&cli.BoolFlag{Name: "kv", Category: categoryGrants, Usage: "grant a key-value store of the provider's own"},
	}
}

// grantNames gives the flags that grant something.
func grantNames() []string {
	return []string{"policy", "dir", "net", "env", "secret", "sql", "kv", "config"}
}

// A granting is what the command line grants one provider.
type granting struct {
	policy.Flags
	files []string // policies
}

// policyOf gives what --policy and the flags beside it grant: nothing, when there are none.
func policyOf(c *cli.Context) (*policy.Policy, error) {
	return granting{
		policy.Flags{
			Dir: c.StringSlice("dir"), Net: c.StringSlice("net"), Env: c.StringSlice("env"), Secret: c.StringSlice("secret"),
			SQL: c.StringSlice("sql"), KV: c.Bool("kv"), Config: c.StringSlice("config"),
		}, c.StringSlice("policy"),
	}.policy(c)
}

// policy is what files and flags say together.
func (g granting) policy(c *cli.Context) (*policy.Policy, error) {
	flags, err := policy.FromFlags(g.Flags)
	if err != nil {
		return nil, usagef(c, "%w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	p := &policy.Policy{}
	for _, file := range g.files {
		more, err := policy.Load(file)
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		p = policy.Merge(p, more)
	}
	return policy.Merge(p, flags.Under(here)), nil
}

// printValue prints a value for machines.
func printValue(w io.Writer, format string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return printData(w, format, text)
}
