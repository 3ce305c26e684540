package images

import (
	"fmt"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/registry"
)

// PullCommand returns the command pull.
func PullCommand() *cli.Command {
	return &cli.Command{
		Name: "pull", Usage: "get a provider from a registry into the store", ArgsUsage: "REFERENCE",
		Description: `Commands that take a provider get it by themselves; this one gets what the tag names today. Signatures are
verified first, by the trust policy, and no byte of a refused module is read.

   wasmres pull ghcr.io/ada/notes:1.0.0
   wasmres run ghcr.io/ada/notes:1.0.0`,
		Flags:        flagsOf(cli.FormatFlag(cli.ReportFormats)),
		OnUsageError: cli.OnUsageError, Action: pull,
	}
}

// VerifyCommand returns the command verify.
func VerifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "verify the signatures of a provider", ArgsUsage: "REFERENCE",
		Description: `Gets the provider into the store and decides by the trust policy, or by the given keys alone. It fails if no
signature was verified.

   wasmres verify ghcr.io/ada/notes:1.0.0
   wasmres verify --key ada.pub ghcr.io/ada/notes:1.0.0`,
		Flags: flagsOf(
			&cli.StringSliceFlag{Name: "key", Usage: "accept signatures by the public key in this `FILE`, whatever the trust policy says; may be repeated"},
			cli.FormatFlag(cli.ReportFormats),
		),
		OnUsageError: cli.OnUsageError, Action: verify,
	}
}

// flagsOf returns flags, and those of commands that get one provider from its registry.
func flagsOf(own ...cli.Flag) []cli.Flag {
	own = append(own, references.StoreFlag())
	return append(append(own, references.TrustFlags()...), references.ClientFlags()...)
}

// A pulled is what pull and verify print.
type pulled struct {
	Reference string   `json:"reference"` // with the digest
	Digest    string   `json:"digest"`    // of the manifest
	Module    string   `json:"module"`
	Size      int64    `json:"size"`
	File      string   `json:"file"`
	Signed    bool     `json:"signed"`
	Signers   []signer `json:"signers,omitempty"`
	Reason    string   `json:"reason"`
}

type signer struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

func describePulled(p *registry.Provider) pulled {
	found := pulled{
		Reference: p.Reference.String(), Digest: string(p.Manifest.Digest), Module: string(p.Module.Digest), Size: p.Module.Size,
		File: p.File, Signed: p.Verified.Signed, Reason: p.Verified.Reason,
	}
	for _, k := range p.Verified.Signers {
		found.Signers = append(found.Signers, signer{k.Name, k.ID})
	}
	return found
}

func pull(c *cli.Context) error {
	verifier, err := references.OpenVerifier(c)
	if err != nil {
		return err
	}
	p, err := getNamed(c, verifier)
	if err != nil {
		return err
	}
	return printPulled(c, p, "pulled")
}

func verify(c *cli.Context) error {
	verifier, err := verifierOf(c)
	if err != nil {
		return err
	}
	p, err := getNamed(c, verifier)
	if err != nil {
		return err
	}
	if err := printPulled(c, p, "verified"); err != nil {
		return err
	}
	if !p.Verified.Signed {
		return fmt.Errorf("verify %s: no signature was required: name a key with --key, or add a rule to the trust policy", p.Reference)
	}
	return nil
}

// verifierOf decides by the keys of --key, or by the trust policy.
func verifierOf(c *cli.Context) (*registry.Verifier, error) {
	files := c.StringSlice("key")
	if len(files) == 0 {
		return references.OpenVerifier(c)
	}
	var keys []*registry.PublicKey
	for _, file := range files {
		key, err := registry.LoadPublicKey(file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	policy, err := registry.RequireKeys(keys...)
	if err != nil {
		return nil, err
	}
	return references.NewVerifier(c, policy)
}

func getNamed(c *cli.Context, verifier *registry.Verifier) (*registry.Provider, error) {
	args, err := cli.Arguments(c, "REFERENCE")
	if err != nil {
		return nil, err
	}
	r, err := references.Parse(c, args[0])
	if err != nil {
		return nil, err
	}
	return references.Get(c, r, verifier, true)
}

func printPulled(c *cli.Context, p *registry.Provider, done string) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, describePulled(p))
	}
	if !p.Verified.Signed {
		done = "pulled"
	}
	fmt.Fprintf(c.App.Writer, "%s %s\n%s\n", done, p.Reference, printable.Line(p.Verified.String()))
	return nil
}
