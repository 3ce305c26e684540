package references

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/registry"
)

// IsReference reports whether an argument names a provider in a registry or an image layout, and not a file. It does not look for
// a file of that name: the folder that a client starts the program in may belong to others.
func IsReference(arg string) bool { return registry.LooksLikeReference(arg) }

// SameRepository reports whether two arguments are references of one repository or image layout.
func SameRepository(a, b string) bool {
	if !IsReference(a) || !IsReference(b) {
		return false
	}
	x, errX := registry.ParseReference(a)
	y, errY := registry.ParseReference(b)
	return errX == nil && errY == nil && x.Registry == y.Registry && x.Repository == y.Repository && x.Layout == y.Layout
}

// ShortName is the name of a provider among several: the last element of its reference or file, without tag and extension.
func ShortName(arg string) string {
	if !IsReference(arg) {
		return approval.Published{}.ShortName(arg)
	}
	r, err := registry.ParseReference(arg)
	if err != nil {
		return arg
	}
	if r.Layout != "" {
		return filepath.Base(r.Layout)
	}
	return path.Base(r.Repository)
}

// Parse parses a reference of the command line.
func Parse(c *cli.Context, arg string) (registry.Reference, error) {
	r, err := registry.ParseReference(arg)
	if err != nil {
		return r, cli.Usagef(c, "%w", err)
	}
	return r, nil
}

// A Module is a module in the user's store, which the trust policy accepts. It stays there until the process ends.
type Module struct {
	File   string
	Digest string // of the file
	From   approval.Published
	Key    string // identity of the first key whose signature was verified; empty for none
}

// Obtain finds the module of a reference in the store, or gets it from its registry. With --update it asks the registry what
// the tag names now, and prints what differs.
func Obtain(c *cli.Context, arg string) (Module, error) {
	r, err := Parse(c, arg)
	if err != nil {
		return Module{}, err
	}
	verifier, err := OpenVerifier(c)
	if err != nil {
		return Module{}, err
	}
	p, err := Get(c, r, verifier, c.Bool("update"))
	if err != nil {
		return Module{}, err
	}
	return moduleOf(r, p)
}

// signerOf names the keys that signed, each with the beginning of its identity: a user may give a name to another key, which
// must not inherit what was granted to the first.
func signerOf(v registry.Verified) string {
	var all []string
	for _, k := range v.Signers {
		all = append(all, fmt.Sprintf("%s (%s)", k.Name, k.ID[:min(len(k.ID), idShown)]))
	}
	return strings.Join(all, ", ")
}

const idShown = 16 // hexadecimal digits of a key's identity

// StoredDigest returns the digest of the module that a reference names in the store; empty if the store does not have it.
func StoredDigest(c *cli.Context, arg string) (string, error) {
	r, err := Parse(c, arg)
	if err != nil {
		return "", err
	}
	store, err := storeOf(c, r)
	if err != nil {
		return "", err
	}
	defer store.Close()
	manifest, err := store.Resolve(c.Context, r)
	if errors.Is(err, registry.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, module, err := store.Module(c.Context, manifest)
	return string(module.Digest), err
}

// Get gets a provider that a verifier accepts. With update it asks the registry what the tag names now.
func Get(c *cli.Context, r registry.Reference, verifier *registry.Verifier, update bool) (*registry.Provider, error) {
	store, err := storeOf(c, r)
	if err != nil {
		return nil, err
	}
	getter := registry.Getter{Store: store, Verifier: verifier}
	if r.Layout == "" {
		if getter.Client, err = OpenClient(c); err != nil {
			return nil, err
		}
		defer getter.Client.Close()
	}
	show, end := Progress(c, "pulling "+r.String())
	p, err := getter.Get(c.Context, r, registry.GetOptions{Update: update, Progress: show})
	end()
	if err != nil {
		return nil, err
	}
	if p.Previous != nil {
		printUpdate(c.App.ErrWriter, r, p.Previous, p)
	}
	return p, nil
}

// storeOf opens what has the module: the user's store, or the layout that the reference names.
func storeOf(c *cli.Context, r registry.Reference) (*registry.Store, error) {
	if r.Layout != "" {
		return registry.OpenLayout(r, false, registry.StoreOptions{})
	}
	return OpenStore(c)
}

// OpenTarget opens where a module is added that is pushed: the user's store, or the layout that the reference names, which it
// makes if there is none.
func OpenTarget(c *cli.Context, r registry.Reference) (*registry.Store, error) {
	if r.Layout != "" {
		return registry.OpenLayout(r, true, registry.StoreOptions{})
	}
	return OpenStore(c)
}

// Progress returns what shows a transfer, and what ends it. With --quiet it shows nothing.
func Progress(c *cli.Context, what string) (show func(registry.Progress), end func()) {
	out := c.App.ErrWriter
	if c.Bool("quiet") {
		out = io.Discard
	}
	line := terminal.NewTransfer(out, printable.Line(what))
	show = func(p registry.Progress) {
		if !p.Exists {
			line.Update(p.Done, p.Descriptor.Size)
		}
	}
	return show, line.End
}

// CheckFile refuses a module in a file if the trust policy allows none, which has no signature.
func CheckFile(c *cli.Context, file string) error {
	if err := checkMissing(c, file); err != nil {
		return err
	}
	verifier, err := OpenVerifier(c)
	if err != nil {
		return err
	}
	_, err = verifier.VerifyFile(file)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	return nil
}

// checkMissing explains a name that is of no file, and that the user may have meant as a reference.
func checkMissing(c *cli.Context, name string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := registry.ParseReference(name); err != nil && strings.Contains(name, "@sha256:") {
		return cli.Usagef(c, "%w", err)
	}
	if registry.LooksLikeReference(name+":latest") && !strings.HasSuffix(name, ".wasm") {
		return cli.Usagef(c, "there is no file %s, and a reference has a tag or a digest here: write %[1]s:latest", name)
	}
	return nil
}
