package images

import (
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
)

// CopyCommand returns the command copy.
func CopyCommand() *cli.Command {
	return &cli.Command{
		Name: "copy", Usage: "copy a provider, with its signatures, to another repository", ArgsUsage: "FROM TO",
		Description: `Either may be a repository or an image layout, which carries providers where there is no network. The bytes
and their digest stay the same, and so the signatures stay valid.

   wasmres copy ghcr.io/ada/notes:1.0.0 registry.example.org/notes:1.0.0
   wasmres copy ghcr.io/ada/notes:1.0.0 oci-layout:./notes:1.0.0`,
		Flags:        append([]cli.Flag{cli.FormatFlag(cli.ReportFormats)}, references.ClientFlags()...),
		OnUsageError: cli.OnUsageError, Action: copyProvider,
	}
}

// SignCommand returns the command sign.
func SignCommand() *cli.Command {
	return &cli.Command{
		Name: "sign", Usage: "sign a provider in a registry", ArgsUsage: "REFERENCE",
		Description: `The signature is about the digest that the tag names now, and is stored beside the provider. cosign verifies it:

   wasmres sign --key ada.key ghcr.io/ada/notes:1.0.0
   cosign verify --key ada.pub --insecure-ignore-tlog=true ghcr.io/ada/notes:1.0.0`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "the `FILE` of the private key, which 'wasmres keygen' makes"},
			cli.FormatFlag(cli.ReportFormats),
		}, references.ClientFlags()...),
		OnUsageError: cli.OnUsageError, Action: sign,
	}
}

func copyProvider(c *cli.Context) error {
	args, err := cli.Arguments(c, "FROM", "TO")
	if err != nil {
		return err
	}
	from, err := references.Parse(c, args[0])
	if err != nil {
		return err
	}
	to, err := references.Parse(c, args[1])
	if err != nil {
		return err
	}
	client, err := references.OpenClient(c)
	if err != nil {
		return err
	}
	defer client.Close()
	show, end := references.Progress(c, "copying to "+to.String())
	manifest, err := client.Copy(c.Context, from, to, show)
	end()
	if err != nil {
		return err
	}
	return published{Reference: to.At(manifest.Digest).String(), Digest: string(manifest.Digest)}.print(c, "copied to")
}

func sign(c *cli.Context) error {
	args, err := cli.Arguments(c, "REFERENCE")
	if err != nil {
		return err
	}
	r, err := references.Parse(c, args[0])
	if err != nil {
		return err
	}
	if c.String("key") == "" {
		return cli.Usagef(c, "missing flag --key: name the private key, which 'wasmres keygen' makes")
	}
	signer, err := loadSigner(c.Context, c.String("key"))
	if err != nil {
		return err
	}
	client, err := references.OpenClient(c)
	if err != nil {
		return err
	}
	defer client.Close()
	manifest, err := client.Resolve(c.Context, r)
	if err != nil {
		return err
	}
	bundle, err := signer.Sign(manifest)
	if err != nil {
		return err
	}
	if err := client.PushSignature(c.Context, r, manifest, bundle); err != nil {
		return err
	}
	return published{Reference: r.At(manifest.Digest).String(), Digest: string(manifest.Digest), Key: signer.PublicKey().ID()}.print(c, "signed")
}
