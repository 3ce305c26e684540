package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

const (
	maxSignature  = 64 << 10 // bytes of the manifest of one
	maxSignatures = 8 << 20  // bytes of all bundles
)

// An Artifact is a provider that was looked up: what is known of it before its module is fetched.
type Artifact struct {
	Descriptor oci.Descriptor // of the manifest
	Bytes      []byte         // of the manifest
	Manifest   oci.Manifest
	Module     oci.Descriptor
	Signatures []Signature // those that [Artifact.FetchSignatures] has found
}

// A Signature is a sigstore bundle about an artifact, which was not verified.
type Signature struct {
	Descriptor oci.Descriptor // of the manifest
	Bytes      []byte         // of the manifest
	Config     oci.Descriptor
	Layer      oci.Descriptor // of the bundle
	Bundle     []byte
}

// Bundles returns the bundles of the signatures.
func (a *Artifact) Bundles() [][]byte {
	var all [][]byte
	for _, s := range a.Signatures {
		all = append(all, s.Bundle)
	}
	return all
}

// Open looks up the provider that a tag or digest names, whose module has at most maxModule bytes. It fetches the manifest
// alone.
func Open(ctx context.Context, from oci.Source, locator string, maxModule int64) (*Artifact, error) {
	d, err := from.Resolve(ctx, locator)
	if err != nil {
		return nil, err
	}
	if d.MediaType != oci.ManifestType {
		return nil, fmt.Errorf("%s is %.100q, not the image manifest of a provider: name a provider", d.Digest, d.MediaType)
	}
	a := &Artifact{Descriptor: d}
	if a.Bytes, err = read(ctx, from, d, oci.MaxManifest); err != nil {
		return nil, err
	}
	if a.Manifest, err = oci.ParseManifest(a.Bytes); err != nil {
		return nil, fmt.Errorf("manifest %s: %w", d.Digest, err)
	}
	if a.Module, err = oci.ModuleOf(a.Manifest, maxModule); err != nil {
		return nil, fmt.Errorf("manifest %s: %w", d.Digest, err)
	}
	a.Descriptor.ArtifactType = a.Manifest.ArtifactType
	return a, nil
}

// FetchSignatures fetches the bundles of those manifests that refer to the artifact and are signatures.
func (a *Artifact) FetchSignatures(ctx context.Context, from oci.Source) error {
	referrers, err := from.Referrers(ctx, a.Descriptor)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, ref := range referrers[:min(len(referrers), oci.MaxReferrers)] {
		if !maySign(ref) {
			continue
		}
		s, err := fetchSignature(ctx, from, ref, a.Descriptor)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		if total += s.Layer.Size; total > maxSignatures {
			return fmt.Errorf("the signatures about %s have more than %d bytes: remove those that nothing needs", a.Descriptor.Digest, maxSignatures)
		}
		a.Signatures = append(a.Signatures, *s)
	}
	return nil
}

// maySign reports whether a referrer could be a signature. Some registries tell the type of the configuration, or none.
func maySign(d oci.Descriptor) bool {
	return d.Size <= maxSignature && slices.Contains([]string{oci.BundleType, oci.EmptyType, ""}, d.ArtifactType)
}

// fetchSignature returns nil for what is no signature about subject, or is listed and gone: others write the list.
func fetchSignature(ctx context.Context, from oci.Source, d, subject oci.Descriptor) (*Signature, error) {
	s := &Signature{Descriptor: d}
	var err error
	if s.Bytes, err = read(ctx, from, d, maxSignature); err != nil {
		return nil, unless(err, oci.ErrNotFound)
	}
	m, err := oci.ParseManifest(s.Bytes)
	if err != nil {
		return nil, nil
	}
	if s.Layer, err = oci.BundleOf(m, subject); err != nil {
		return nil, nil
	}
	s.Config = m.Config
	s.Descriptor.ArtifactType = m.ArtifactType
	if s.Bundle, err = read(ctx, from, s.Layer, oci.MaxBundle); err != nil {
		return nil, unless(err, oci.ErrNotFound)
	}
	return s, nil
}

func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// read fetches what d describes, at most max bytes, and checks it; again from the origin if a mirror has other bytes.
func read(ctx context.Context, from oci.Source, d oci.Descriptor, max int64) ([]byte, error) {
	b, err := readOnce(ctx, from, d, max)
	if origin := originOf(from, err); origin != nil {
		return readOnce(ctx, origin, d, max)
	}
	return b, err
}

func readOnce(ctx context.Context, from oci.Source, d oci.Descriptor, max int64) ([]byte, error) {
	if err := oci.CheckDescriptor(d, max); err != nil {
		return nil, err
	}
	r, err := from.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return oci.ReadAll(r, d, max)
}

// originOf returns the source to ask again after an error: that without mirrors, if one of them may have given wrong bytes.
func originOf(from oci.Source, err error) oci.Source {
	mirrored, ok := from.(interface{ Origin() oci.Source })
	if mismatch := (*oci.MismatchError)(nil); !ok || !errors.As(err, &mismatch) {
		return nil
	}
	return mirrored.Origin()
}
