package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/memory"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/interop/clients"
	"github.com/wasmres/wasmres/registry/internal/oci"
)

var (
	operations = []string{"push", "pull", "sign", "verify", "copy", "referrers", "keys"}
	columns    = []string{"oras-go 2.6.4", "crane 0.22.1", "cosign 3.1.3", "docker-registry 2.8.2, crane's registry"}
)

const (
	orasColumn = iota
	craneColumn
	cosignColumn
	registryColumn
)

// A cell is one operation of a program.
type cell struct {
	operation, program string
	how                string // what the table says
	run                func(w *world) error
}

var cells = []cell{
	{"push", columns[orasColumn], "wasmres pulls what `oras.PackManifest` writes", orasPushes},
	{"push", columns[craneColumn], "`crane push` of a layout that wasmres wrote", cranePushes},
	{"push", columns[cosignColumn], "wasmres pulls what `cosign upload wasm` writes", cosignUploads},
	{"push", columns[registryColumn], "wasmres pushes, and pushes again", wasmresPushes},

	{"pull", columns[orasColumn], "`oras.Copy` gets the module that wasmres pushed", orasPulls},
	{"pull", columns[craneColumn], "`crane pull --format oci`, `crane export`, `crane validate`", cranePulls},
	{"pull", columns[cosignColumn], "wasmres reads the provider in the layout of `cosign save`, whose index does not list signatures", cosignSaves},
	{"pull", columns[registryColumn], "wasmres pulls by tag and by digest", wasmresPulls},

	{"sign", columns[orasColumn], "a bundle that `oras.PackManifest` attaches; wasmres verifies it", orasAttaches},
	{"sign", columns[cosignColumn], "`cosign sign --key`; wasmres verifies it. The older form, with `--new-bundle-format=false`, is refused with advice", cosignSigns},
	{"sign", columns[registryColumn], "wasmres signs with two keys: both signatures are kept", twoSign},

	{"verify", columns[orasColumn], "`Referrers` finds the bundle of wasmres", orasDiscovers},
	{"verify", columns[cosignColumn], "`cosign verify --key` accepts the signature of wasmres, and no other key's", cosignVerifies},
	{"verify", columns[registryColumn], "wasmres verifies before it fetches the module, and refuses an unsigned one", wasmresVerifies},

	{"copy", columns[orasColumn], "`oras.ExtendedCopy` keeps digest and signature", orasCopies},
	{"copy", columns[craneColumn], "`crane copy` keeps the digest, and leaves signatures behind: wasmres then refuses it", craneCopies},
	{"copy", columns[cosignColumn], "`cosign copy` keeps the digest, and leaves signatures behind, its own too; wasmres can sign the copy", cosignCopies},
	{"copy", columns[registryColumn], "wasmres copies between two registries with signatures", wasmresCopies},

	{"referrers", columns[orasColumn], "`Referrers` lists signatures of wasmres and of cosign", orasLists},
	{"referrers", columns[craneColumn], "`crane manifest` shows the list, in the tag `sha256-…`", craneLists},
	{"referrers", columns[cosignColumn], "`cosign tree` lists the signature of wasmres", cosignTree},
	{"referrers", columns[registryColumn], "neither has the API: wasmres reads and writes the tag `sha256-…`", wasmresLists},

	{"keys", columns[cosignColumn], "cosign signs with a key of `wasmres keygen`; wasmres signs with one of `cosign generate-key-pair`", keysTravel},
}

func orasPushes(w *world) error {
	name := w.fresh()
	p, err := w.pack()
	if err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	for _, b := range [][]byte{w.module, p.ConfigBytes} {
		d := oci.DescriptorOf(oci.ModuleType, b)
		if err := r.Push(w.ctx, d, bytes.NewReader(b)); err != nil {
			return err
		}
	}
	manifest, err := oras.PackManifest(w.ctx, r, oras.PackManifestVersion1_1, oci.ProviderType,
		oras.PackManifestOptions{Layers: []oci.Descriptor{p.Module}, ConfigDescriptor: &p.Config})
	if err != nil {
		return err
	}
	if err := r.Tag(w.ctx, manifest, "1"); err != nil {
		return err
	}
	return w.pull(name, nil)
}

func cranePushes(w *world) error {
	dir, _, err := w.layout()
	if err != nil {
		return err
	}
	name := w.fresh()
	if _, err := w.Run(clients.Crane, "push", "--insecure", dir, name+":1"); err != nil {
		return err
	}
	return w.pull(name, nil)
}

func cosignUploads(w *world) error {
	file, name := w.path("module.wasm"), w.fresh()
	if err := os.WriteFile(file, w.module, 0o600); err != nil {
		return err
	}
	if _, err := w.Run(clients.Cosign, "upload", "wasm", "--allow-http-registry", "-f", file, name+":1"); err != nil {
		return err
	}
	return w.pull(name, nil)
}

func wasmresPushes(w *world) error {
	name := w.fresh()
	_, err := w.push(name)
	if err == nil {
		_, err = w.push(name)
	}
	return err
}

func orasPulls(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	to := memory.New()
	got, err := oras.Copy(w.ctx, r, "1", to, "1", oras.DefaultCopyOptions)
	if err != nil || got.Digest != manifest.Digest {
		return fmt.Errorf("pulled %s, not %s: %w", got.Digest, manifest.Digest, errors.Join(err))
	}
	return w.inMemory(to)
}

func (w *world) inMemory(from *memory.Store) error {
	ok, err := from.Exists(w.ctx, oci.DescriptorOf(oci.ModuleType, w.module))
	if err == nil && !ok {
		err = errors.New("the module is missing")
	}
	return err
}

func cranePulls(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	dir := w.path("crane-" + manifest.Digest.Encoded())
	if _, err := w.Run(clients.Crane, "pull", "--insecure", "--format", "oci", name+":1", dir); err != nil {
		return err
	}
	if err := w.saved(dir, manifest, nil); err != nil {
		return err
	}
	if _, err := w.Run(clients.Crane, "validate", "--insecure", "--remote", name+":1"); err != nil {
		return err
	}
	module, err := w.Run(clients.Crane, "export", "--insecure", name+":1", "-")
	if err == nil && module != string(w.module) {
		err = fmt.Errorf("crane export gives %d other bytes", len(module))
	}
	return err
}

func cosignSaves(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	dir := w.path("cosign-" + manifest.Digest.Encoded())
	if _, err := w.cosign("save", "--dir", dir, name+":1"); err != nil {
		return err
	}
	return errors.Join(w.saved(dir, manifest, nil), refused(w.saved(dir, manifest, w.signer.PublicKey())))
}

func wasmresPulls(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	from, err := w.repository(name)
	if err != nil {
		return err
	}
	byDigest, err := from.Resolve(w.ctx, string(manifest.Digest))
	if err != nil || byDigest.Digest != manifest.Digest {
		return fmt.Errorf("resolved %s, not %s: %w", byDigest.Digest, manifest.Digest, errors.Join(err))
	}
	return w.pull(name, nil)
}

func orasAttaches(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	b, err := w.signer.Sign(manifest)
	if err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	layer := oci.DescriptorOf(oci.BundleType, b)
	if err := r.Push(w.ctx, layer, bytes.NewReader(b)); err != nil {
		return err
	}
	if _, err := oras.PackManifest(w.ctx, r, oras.PackManifestVersion1_1, oci.BundleType,
		oras.PackManifestOptions{Subject: &manifest, Layers: []oci.Descriptor{layer}}); err != nil {
		return err
	}
	return w.pull(name, w.signer.PublicKey())
}

func cosignSigns(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	sign := []string{"sign", "--key", w.path("theirs.key"), "--yes"}
	if _, err := w.cosign(append(append(sign, clients.Offline...), at(name, manifest))...); err != nil {
		return err
	}
	if err := w.pull(name, w.theirs); err != nil {
		return err
	}
	if err := w.pull(name, w.signer.PublicKey()); err == nil || !strings.Contains(err.Error(), "another key signed it") {
		return fmt.Errorf("by another key: %w", errors.Join(err))
	}
	older := w.fresh()
	if manifest, err = w.push(older); err != nil {
		return err
	}
	old := append(sign, "--new-bundle-format=false", "--use-signing-config=false", "--tlog-upload=false", at(older, manifest))
	if _, err := w.cosign(old...); err != nil {
		return err
	}
	if err := w.pull(older, w.theirs); err == nil || !strings.Contains(err.Error(), "older versions of cosign") {
		return fmt.Errorf("the older form of signatures: %w", errors.Join(err))
	}
	return nil
}

func twoSign(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	theirs, err := registry.LoadSigner(w.path("theirs.key"), []byte(clients.Passphrase))
	if err != nil {
		return err
	}
	return errors.Join(w.signWith(theirs, name, manifest), w.pull(name, w.theirs), w.pull(name, w.signer.PublicKey()))
}

func orasDiscovers(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	bundles, err := clients.Bundles(w.ctx, r, manifest)
	if err == nil && len(bundles) != 1 {
		err = fmt.Errorf("%d bundles were found", len(bundles))
	}
	return err
}

func cosignVerifies(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	verify := func(key string) error {
		_, err := w.cosign("verify", "--key", w.path(key), "--insecure-ignore-tlog=true", at(name, manifest))
		return err
	}
	if err := verify("ours.pub"); err != nil {
		return err
	}
	if verify("theirs.pub") == nil {
		return errors.New("cosign accepts another key")
	}
	return nil
}

func wasmresVerifies(w *world) error {
	name := w.fresh()
	if _, err := w.pushSigned(name); err != nil {
		return err
	}
	if err := w.pull(name, w.signer.PublicKey()); err != nil {
		return err
	}
	unsigned := w.fresh()
	if _, err := w.push(unsigned); err != nil {
		return err
	}
	return refused(w.pull(unsigned, w.signer.PublicKey()))
}

// refused expects that wasmres found no signature.
func refused(err error) error {
	if err == nil || !strings.Contains(err.Error(), "it has no signature") {
		return fmt.Errorf("without a signature: %w", errors.Join(err))
	}
	return nil
}

func orasCopies(w *world) error {
	name := w.fresh()
	if _, err := w.pushSigned(name); err != nil {
		return err
	}
	from, err := clients.Repository(name)
	if err != nil {
		return err
	}
	to, err := clients.Repository(w.elsewhere(name))
	if err != nil {
		return err
	}
	if _, err := oras.ExtendedCopy(w.ctx, from, "1", to, "1", oras.DefaultExtendedCopyOptions); err != nil {
		return err
	}
	return w.pull(w.elsewhere(name), w.signer.PublicKey())
}

func craneCopies(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	if _, err := w.Run(clients.Crane, "copy", "--insecure", name+":1", w.elsewhere(name)+":1"); err != nil {
		return err
	}
	digest, err := w.Run(clients.Crane, "digest", "--insecure", w.elsewhere(name)+":1")
	if err != nil || strings.TrimSpace(digest) != string(manifest.Digest) {
		return fmt.Errorf("the copy is %s: %w", digest, errors.Join(err))
	}
	return errors.Join(w.pull(w.elsewhere(name), nil), refused(w.pull(w.elsewhere(name), w.signer.PublicKey())))
}

// cosign copies the provider once more, to the tag of its referrers: that must not pass for their list.
func cosignCopies(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	if _, err := w.cosign("copy", name+":1", w.elsewhere(name)+":1"); err != nil {
		return err
	}
	if err := errors.Join(w.pull(w.elsewhere(name), nil), refused(w.pull(w.elsewhere(name), w.signer.PublicKey()))); err != nil {
		return err
	}
	return errors.Join(w.signWith(w.signer, w.elsewhere(name), manifest), w.pull(w.elsewhere(name), w.signer.PublicKey()))
}

func orasLists(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	sign := append([]string{"sign", "--key", w.path("theirs.key"), "--yes", at(name, manifest)}, clients.Offline...)
	if _, err := w.cosign(sign...); err != nil {
		return err
	}
	r, err := clients.Repository(name)
	if err != nil {
		return err
	}
	bundles, err := clients.Bundles(w.ctx, r, manifest)
	if err == nil && len(bundles) != 2 {
		err = fmt.Errorf("%d bundles were found", len(bundles))
	}
	return errors.Join(err, w.pull(name, w.theirs), w.pull(name, w.signer.PublicKey()))
}

func craneLists(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	list, err := w.Run(clients.Crane, "manifest", "--insecure", name+":sha256-"+manifest.Digest.Encoded())
	if err == nil && !strings.Contains(list, oci.BundleType) {
		err = fmt.Errorf("it is %s", list)
	}
	return err
}

func cosignTree(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	tree, err := w.cosign("tree", at(name, manifest))
	if err == nil && !strings.Contains(tree, "https://sigstore.dev/cosign/sign/v1") {
		err = fmt.Errorf("it is %s", tree)
	}
	return err
}

func wasmresLists(w *world) error {
	name := w.fresh()
	manifest, err := w.pushSigned(name)
	if err != nil {
		return err
	}
	from, err := w.repository(name)
	if err != nil {
		return err
	}
	found, err := from.Referrers(w.ctx, manifest)
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d were found: %w", len(found), errors.Join(err))
	}
	tags, err := from.Tags(w.ctx)
	if err == nil && !slices.Equal(tags, []string{"1"}) {
		err = fmt.Errorf("the tags are %q", tags)
	}
	return err
}
