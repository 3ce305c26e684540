package images

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/serverjson"
	"github.com/wasmres/wasmres/runtime"
)

// ServerJSONCommand returns the command server-json.
func ServerJSONCommand() *cli.Command {
	return &cli.Command{
		Name: "server-json", Usage: "write the server.json that lists a provider in the public MCP registry", ArgsUsage: "REFERENCE",
		Description: `The public MCP registry has no packages of WebAssembly. It lists a server that hosts the provider, an image
with wasmres and the provider, or an MCPB bundle of them. The reference of the provider is part of
the metadata. Title, description and version are those of the provider.

   wasmres server-json --name io.github.ada/notes \
     --remote https://notes.example.com/mcp ghcr.io/ada/notes:1.0.0
   wasmres server-json --name io.github.ada/notes \
     --image ghcr.io/ada/notes-server:1.0.0 ghcr.io/ada/notes:1.0.0`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "the `NAME` of the server, as in io.github.ada/notes"},
			&cli.StringFlag{Name: "remote", Usage: "the `URL` of a server that hosts the provider; {tenant_id} in it is for the client to fill in"},
			&cli.StringFlag{Name: "image", Usage: "the reference of an `IMAGE` with wasmres and the provider"},
			&cli.StringFlag{Name: "bundle", Usage: "the `URL` of an MCPB bundle with wasmres and the provider; needs --bundle-file"},
			&cli.StringFlag{Name: "bundle-file", Usage: "the `FILE` of the bundle, for its SHA-256"},
			&cli.StringFlag{Name: "website", Usage: "the `URL` of its documentation"},
			&cli.StringFlag{Name: "source", Usage: "the `URL` of its sources"},
		}, references.Flags()...),
		OnUsageError: cli.OnUsageError, Action: writeServerJSON,
	}
}

func writeServerJSON(c *cli.Context) error {
	args, err := cli.Arguments(c, "REFERENCE")
	if err != nil {
		return err
	}
	if !references.IsReference(args[0]) {
		return cli.Usagef(c, "%s is no reference: push the provider first, and write host/repository:tag", args[0])
	}
	module, err := references.Obtain(c, args[0])
	if err != nil {
		return err
	}
	info, err := runtime.InspectFile(module.File)
	if err != nil {
		return err
	}
	if info.Digest != module.Digest {
		return fmt.Errorf("%s: its file has changed since it was verified: run the command again", args[0])
	}
	if info.Manifest == nil {
		return fmt.Errorf("%s has no manifest in its module: build it with wasmres build", args[0])
	}
	listing := serverjson.Listing{
		Name: c.String("name"), Title: info.Manifest.Title, Description: info.Manifest.Description, Version: info.Manifest.Version,
		Website: c.String("website"), Repository: c.String("source"), Remote: c.String("remote"), Image: c.String("image"),
		Provider: serverjson.Provider{Reference: module.From.Reference, ABI: abi.Major, Digest: info.Digest, Key: module.Key},
	}
	if listing.Bundle, err = bundle(c); err != nil {
		return err
	}
	text, err := listing.Marshal()
	if err != nil {
		return err
	}
	_, err = c.App.Writer.Write(text)
	return err
}

// bundle returns the bundle of the flags, with the digest of its file.
func bundle(c *cli.Context) (serverjson.Bundle, error) {
	b := serverjson.Bundle{URL: c.String("bundle")}
	file := c.String("bundle-file")
	if b.URL == "" && file == "" {
		return b, nil
	}
	if b.URL == "" || file == "" {
		return b, cli.Usagef(c, "--bundle and --bundle-file go together")
	}
	f, err := os.Open(file)
	if err != nil {
		return b, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return b, err
	}
	b.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return b, nil
}
