package clients

import (
	"bytes"
	"context"
	"io"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Repository opens a repository by oras-go.
func Repository(name string) (*remote.Repository, error) {
	r, err := remote.NewRepository(name)
	if err != nil {
		return nil, err
	}
	r.PlainHTTP = true
	r.SkipReferrersGC = true // docker-registry deletes nothing
	return r, nil
}

// Push pushes what packed describes, and module, the bytes of its layer.
func Push(ctx context.Context, r *remote.Repository, packed oci.Packed, module []byte, tag string) error {
	for _, part := range []struct {
		d oci.Descriptor
		b []byte
	}{{packed.Module, module}, {packed.Config, packed.ConfigBytes}} {
		if err := r.Push(ctx, part.d, bytes.NewReader(part.b)); err != nil {
			return err
		}
	}
	if tag == "" {
		return r.Push(ctx, packed.Manifest, bytes.NewReader(packed.ManifestBytes))
	}
	return r.PushReference(ctx, packed.Manifest, bytes.NewReader(packed.ManifestBytes), tag)
}

// Bundles fetches the bundles about a manifest.
func Bundles(ctx context.Context, r *remote.Repository, subject oci.Descriptor) (bundles [][]byte, err error) {
	err = r.Referrers(ctx, subject, "", func(referrers []oci.Descriptor) error {
		for _, d := range referrers {
			text, err := content.FetchAll(ctx, r, d)
			if err != nil {
				return err
			}
			m, err := oci.ParseManifest(text)
			if err != nil {
				return err
			}
			layer, err := oci.BundleOf(m, subject)
			if err != nil {
				continue
			}
			b, err := fetch(ctx, r, layer)
			if err != nil {
				return err
			}
			bundles = append(bundles, b)
		}
		return nil
	})
	return bundles, err
}

func fetch(ctx context.Context, r *remote.Repository, d oci.Descriptor) ([]byte, error) {
	body, err := r.Blobs().Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return content.ReadAll(io.LimitReader(body, oci.MaxBundle), d)
}
