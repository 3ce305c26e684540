package images

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/runtime"
)

// PushCommand returns the command push.
func PushCommand() *cli.Command {
	return &cli.Command{
		Name: "push", Usage: "publish a provider in a registry", ArgsUsage: "[PROVIDER.wasm] REFERENCE",
		Description: `Any registry of OCI artifacts will do. The same module gives the same digest: the time in its manifest is that
of SOURCE_DATE_EPOCH, or else of the file. A provider without access to a registry is kept in a folder.

   wasmres push notes.wasm ghcr.io/ada/notes:1.0.0
   wasmres push --sign ada.key notes.wasm ghcr.io/ada/notes:1.0.0
   wasmres push notes.wasm oci-layout:./notes:1.0.0`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "sign", Usage: "sign it with the private key in this `FILE`, which 'wasmres keygen' makes"},
			&cli.StringSliceFlag{Name: "annotation", Usage: "add to the manifest, as `KEY=VALUE`; may be repeated"},
			references.StoreFlag(), cli.FormatFlag(cli.ReportFormats),
		}, references.ClientFlags()...),
		OnUsageError: cli.OnUsageError, Action: push,
	}
}

// A published is what push, copy and sign print.
type published struct {
	Reference string `json:"reference"`     // with the digest
	Digest    string `json:"digest"`        // of the manifest
	Key       string `json:"key,omitempty"` // that signed
}

func (p published) print(c *cli.Context, done string) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		return cli.PrintValue(c.App.Writer, format, p)
	}
	fmt.Fprintf(c.App.Writer, "%s %s\n", done, p.Reference)
	if p.Key != "" {
		fmt.Fprintf(c.App.Writer, "signed by key %s\n", p.Key)
	}
	return nil
}

func push(c *cli.Context) error {
	file, name, err := pushed(c)
	if err != nil {
		return err
	}
	to, err := references.Parse(c, name)
	if err != nil {
		return err
	}
	if to.Digest != "" {
		return cli.Usagef(c, "%s: a provider is pushed under a tag; its digest follows from its bytes", to)
	}
	metadata, err := metadataOf(c, file)
	if err != nil {
		return err
	}
	var signer *registry.Signer
	if key := c.String("sign"); key != "" { // before anything is published
		if signer, err = loadSigner(c.Context, key); err != nil {
			return err
		}
	}
	client, err := references.OpenClient(c)
	if err != nil {
		return err
	}
	defer client.Close()
	store, err := references.OpenTarget(c, to)
	if err != nil {
		return err
	}
	defer store.Close()
	manifest, err := addFile(c, store, file, to, metadata)
	if err != nil {
		return err
	}
	if signer != nil {
		if err := addSignature(c, store, signer, to, manifest); err != nil {
			return err
		}
	}
	if to.Layout == "" {
		show, end := references.Progress(c, "pushing "+to.String())
		err = client.Push(c.Context, store, to, show)
		end()
	}
	if err != nil {
		return err
	}
	p := published{Reference: to.At(manifest.Digest).String(), Digest: string(manifest.Digest)}
	if signer != nil {
		p.Key = signer.PublicKey().ID()
	}
	return p.print(c, "pushed")
}

// pushed returns the file and the reference of the command line. In the directory of a project the file may be missing.
func pushed(c *cli.Context) (file, reference string, err error) {
	if c.NArg() == 1 {
		file, err = providers.ProjectModule(c)
		return file, c.Args().First(), err
	}
	args, err := cli.Arguments(c, "PROVIDER.wasm", "REFERENCE")
	if err != nil {
		return "", "", err
	}
	return args[0], args[1], nil
}

// addFile stores a module, with its manifest.
func addFile(c *cli.Context, store *registry.Store, file string, to registry.Reference, m registry.Metadata) (registry.Descriptor, error) {
	f, err := os.Open(file)
	if err != nil {
		return registry.Descriptor{}, err
	}
	defer f.Close()
	return store.Add(c.Context, f, to, m)
}

// addSignature signs what was stored. The store has the signature, and so gets it whatever is pushed to later.
func addSignature(c *cli.Context, store *registry.Store, signer *registry.Signer, to registry.Reference, manifest registry.Descriptor) error {
	bundle, err := signer.Sign(manifest)
	if err != nil {
		return err
	}
	return store.AddSignature(c.Context, to, manifest, bundle)
}

// metadataOf describes a module for its manifest, from what it says of itself.
func metadataOf(c *cli.Context, file string) (registry.Metadata, error) {
	info, err := runtime.InspectFile(file)
	if err != nil {
		return registry.Metadata{}, err
	}
	created, err := createdAt(file)
	if err != nil {
		return registry.Metadata{}, err
	}
	m := registry.Metadata{File: filepath.Base(file), Created: created, Annotations: map[string]string{}}
	if info.Manifest != nil {
		m.Annotations = annotationsOf(info.Manifest)
		m.File = info.Manifest.Name + ".wasm"
	} else {
		fmt.Fprintf(c.App.ErrWriter, "%s has no manifest in it, and so no version and description for the registry: wasmres build packs them.\n", file)
	}
	for _, given := range c.StringSlice("annotation") {
		key, value, found := strings.Cut(given, "=")
		if !found || key == "" {
			return m, cli.Usagef(c, "--annotation %s: write it as KEY=VALUE", given)
		}
		m.Annotations[key] = value
	}
	return m, nil
}

// annotationsOf returns what is known of a provider by its manifest, one line each.
func annotationsOf(m *abi.Manifest) map[string]string {
	const prefix = "org.opencontainers.image."
	all := map[string]string{"dev.wasmres.abi": strconv.Itoa(abi.Major)}
	for key, value := range map[string]string{"title": m.Name, "version": m.Version, "description": m.Description} {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			all[prefix+key] = value
		}
	}
	return all
}

// createdAt returns when a module was made: SOURCE_DATE_EPOCH, or else the time of the file.
func createdAt(file string) (time.Time, error) {
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || seconds < 0 {
			return time.Time{}, errors.New("SOURCE_DATE_EPOCH is not a number of seconds since 1970")
		}
		return time.Unix(seconds, 0), nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime().Truncate(time.Second), nil
}
