package providers

import (
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
)

// PrintPermitted says under a head what a policy permits.
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

// GrantNames gives the flags that grant something.
func GrantNames() []string {
	return []string{"policy", "dir", "net", "env", "secret", "sql", "kv", "config"}
}

// A grants is what the command line grants one provider.
type grants struct {
	policy.Flags
	files []string // policies
}

// Policy gives what --policy and the flags beside it grant: nothing, when there are none.
func Policy(c *cli.Context) (*policy.Policy, error) {
	return grants{
		policy.Flags{
			Dir: c.StringSlice("dir"), Net: c.StringSlice("net"), Env: c.StringSlice("env"), Secret: c.StringSlice("secret"),
			SQL: c.StringSlice("sql"), KV: c.Bool("kv"), Config: c.StringSlice("config"),
		}, c.StringSlice("policy"),
	}.policy(c)
}

// policy is what files and flags say together.
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
		p = policy.Merge(p, more)
	}
	return policy.Merge(p, flags.Under(here)), nil
}
