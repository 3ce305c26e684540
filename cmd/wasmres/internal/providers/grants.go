package providers

import (
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

// PrintPermitted prints a head and, indented, what a policy permits.
func PrintPermitted(w io.Writer, head string, p *policy.Policy) {
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

// grantFlags returns the flags that grant capabilities, except --dir and --config.
func grantFlags() []cli.Flag {
	repeated := func(name, usage string) cli.Flag {
		return &cli.StringSliceFlag{Name: name, Category: cli.CategoryGrants, Usage: usage + "; may be repeated"}
	}
	return []cli.Flag{
		repeated("policy", "grant what this policy `FILE` permits; flags add to it"),
		repeated("net", "grant requests to a server, as `URL`: https://HOST[:PORT][/PATH] or just HOST, with GET and HEAD, or with the methods before it, as in GET,POST:https://api.example.org"),
		repeated("env", "grant an environment variable, by its `NAME`"),
		repeated("secret", "let requests to the server of the one --net carry a secret, as `NAME=SOURCE`; a source is env:VARIABLE, file:PATH or keyring:SERVICE/USER"),
		repeated("sql", "grant reading from a database, as `NAME=DSN`; a DSN with a password comes from env:VARIABLE or file:PATH"),
		&cli.BoolFlag{Name: "kv", Category: cli.CategoryGrants, Usage: "grant a key-value store of the provider's own"},
	}
}

// GrantNames returns the names of all flags that grant something.
func GrantNames() []string {
	return []string{"policy", "dir", "net", "env", "secret", "sql", "kv", "config"}
}

// grants has the command line's grants for one provider.
type grants struct {
	policy.Flags
	files []string // of policies
}

// Policy returns the policy of a command's flags, for its one provider. It is empty if the flags grant nothing.
func Policy(c *cli.Context) (*policy.Policy, error) {
	return grants{grantsOf(c), c.StringSlice("policy")}.policy(c)
}

// grantsOf returns the values of the flags that grant something to the one provider of a command.
func grantsOf(c *cli.Context) policy.Flags {
	return policy.Flags{
		Dir: c.StringSlice("dir"), Net: c.StringSlice("net"), Env: c.StringSlice("env"), Secret: c.StringSlice("secret"),
		SQL: c.StringSlice("sql"), KV: c.Bool("kv"), Config: c.StringSlice("config"),
	}
}

// policy merges the policy files and the flags.
func (g grants) policy(c *cli.Context) (*policy.Policy, error) {
	flags, err := policy.FromFlags(g.Flags)
	if err != nil {
		return nil, cli.Usagef(c, "%w", err)
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
		if err := enginename.Check(more.Engine); err != nil && !c.IsSet("engine") {
			return nil, fmt.Errorf("--policy: %s: engine: %w", file, err)
		}
		p = policy.Merge(p, more)
	}
	return policy.Merge(p, flags.Under(here)), nil
}
