package providers

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
)

// A Described is a provider that has said what it requests, and is not open.
type Described struct {
	Manifest *abi.Manifest
	Request  approval.Request // with the grants of the command line
}

// Describe returns what the provider of a file or reference says of itself. If its module has no manifest, it opens the provider
// without grants.
func Describe(c *cli.Context, arg string) (*Described, error) {
	cfg, err := Config(c, arg, cli.PlainLog)
	if err != nil {
		return nil, err
	}
	info, err := inspect(cfg)
	if err != nil {
		return nil, err
	}
	m, digest := info.Manifest, info.Digest
	if m == nil {
		ungranted := cfg
		ungranted.Grants = policy.Policy{}
		if m, digest, err = DescribeUngranted(c, ungranted); err != nil {
			return nil, err
		}
	}
	request := approval.Request{Manifest: m, Digest: digest, File: cfg.File, From: cfg.From, Given: &cfg.Grants}
	request.Store, err = OpenApprovals(c)
	if err != nil && approval.Decide(request).Outcome != approval.Granted {
		return nil, err
	}
	return &Described{m, request}, nil
}

// Approve returns what the provider is granted at its next start: by the command line, by an approval, or because the user says
// so now, on a terminal, which is stored.
func (d *Described) Approve(c *cli.Context) (*policy.Policy, error) {
	tty, closeTTY := AskingTerminal(c)
	if tty != nil {
		tty.Lasting = true
		defer closeTTY()
	}
	decision, err := approval.Obtain(c.Context, d.Request, tty, UserName())
	if err != nil {
		return nil, err
	}
	return decision.Policy, decision.Problem
}

// SetFlags returns those of [Flags] and [ApprovalsFlag] that are set, on the command line or by the environment, as arguments that
// mean the same in every folder. It leaves out those that are for one run.
func SetFlags(c *cli.Context) ([]string, error) {
	policies := c.StringSlice("policy")
	var args []string
	for _, file := range policies {
		file, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		args = append(args, "--policy", file)
	}
	granted, err := grants{Flags: grantsOf(c)}.policy(c)
	if err != nil {
		return nil, err
	}
	flags, _ := granted.Flags() // complete, since they were flags
	args = append(args, flags.Args()...)
	for _, f := range Flags(ApprovalsFlag()) {
		name := f.Names()[0]
		if !c.IsSet(name) || isGrant(name) || name == "update" || name == "quiet" {
			continue
		}
		more, err := flagArguments(c, f)
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	return args, nil
}

// isGrant reports whether a flag is one of [policy.Flags], or names a policy.
func isGrant(name string) bool {
	return slices.Contains(GrantNames(), name)
}

// flagArguments returns a flag as arguments. Files become absolute.
func flagArguments(c *cli.Context, f cli.Flag) (args []string, err error) {
	name := f.Names()[0]
	switch f := f.(type) {
	case *cli.BoolFlag:
		return []string{fmt.Sprintf("--%s=%t", name, c.Bool(name))}, nil
	case *cli.StringSliceFlag:
		for _, value := range c.StringSlice(name) {
			args = append(args, "--"+name, value)
		}
		return args, nil
	case *cli.StringFlag:
		value := c.String(name)
		if isPath(f) && value != "" {
			if value, err = filepath.Abs(value); err != nil {
				return nil, err
			}
		}
		return []string{"--" + name, value}, nil
	}
	return []string{"--" + name, fmt.Sprint(c.Value(name))}, nil
}

// isPath reports whether the value of a flag is a file or a folder.
func isPath(f *cli.StringFlag) bool {
	switch f.Name {
	case "cache-dir", "data-dir", "store", "approvals", "trust", "registry-ca":
		return true
	}
	return false
}
