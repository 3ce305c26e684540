package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// Referrers implements [oci.Source]: by the API of the registry, else by the tag that stands for it. It asks the mirrors if the
// registry itself fails. More than [oci.MaxReferrers] are an error, since those beyond them could be the ones that count.
func (r *Repository) Referrers(ctx context.Context, d oci.Descriptor) ([]oci.Descriptor, error) {
	found, err := r.origin.referrers(ctx, d)
	if err == nil {
		return found, nil
	}
	for _, m := range r.mirrors {
		if found, err := m.referrers(ctx, d); err == nil {
			return found, nil
		}
	}
	return nil, r.origin.explain(ctx, fmt.Sprintf("list what refers to %s in %s", d.Digest, r.name), err)
}

func (s *source) referrers(ctx context.Context, d oci.Descriptor) ([]oci.Descriptor, error) {
	repo, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	found, err := list(ctx, repo, d)
	if lacksAPI(err) && repo.SetReferrersCapability(false) == nil {
		return list(ctx, repo, d)
	}
	return found, err
}

// lacksAPI reports whether a registry answered the request for referrers as one that it does not know. A registry without the
// API should answer 404, which oras-go understands.
func lacksAPI(err error) bool {
	var answer *errcode.ErrorResponse
	return errors.As(err, &answer) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusNotImplemented,
	}, answer.StatusCode)
}

func list(ctx context.Context, repo *remote.Repository, d oci.Descriptor) (found []oci.Descriptor, err error) {
	// Without a type: some registries tell another type than the manifest has.
	err = repo.Referrers(ctx, d, "", func(page []oci.Descriptor) error {
		for _, ref := range page {
			if ref.MediaType != oci.ManifestType || oci.CheckDescriptor(ref, oci.MaxManifest) != nil {
				continue
			}
			found = append(found, oci.Descriptor{
				MediaType: ref.MediaType, Digest: ref.Digest, Size: ref.Size, ArtifactType: ref.ArtifactType,
			})
			if len(found) > oci.MaxReferrers {
				return fmt.Errorf("more than %d manifests refer to it: remove those that nothing needs", oci.MaxReferrers)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.CompactFunc(found, func(a, b oci.Descriptor) bool { return a.Digest == b.Digest }), nil
}

const (
	listedChecks = 3  // in a row that find a referrer before it counts as listed
	maxPushes    = 12 // of one referrer
	// Between two checks: longer than another client may take from reading the list to replacing it. That is not known, but a slow
	// machine, network or registry makes the pushes of all clients slow.
	leastListedWait = 60 * time.Millisecond
	mostListedWait  = time.Second
)

// ensureListed pushes a referrer again while its subject does not list it. Registries without the API keep the list in a tag,
// which two clients that push at once overwrite, one of them with a list that lacks the other's referrer. The first push took so long.
func (r *Repository) ensureListed(ctx context.Context, subject, d oci.Descriptor, took time.Duration, push func() error) error {
	for pushes := 1; ; pushes++ {
		listed, err := r.isListed(ctx, subject, d, min(max(2*took, leastListedWait), mostListedWait))
		if err != nil || listed {
			return err
		}
		if pushes == maxPushes {
			return &failure{fmt.Sprintf("push signature %s to %s: the registry has it and does not list it, after %d attempts: "+
				"other clients may push signatures at the same time: try again later", d.Digest, r.name, pushes), oci.ErrInterrupted}
		}
		began := time.Now()
		if err := push(); err != nil {
			return err
		}
		took = max(took, time.Since(began))
	}
}

// isListed reports whether the registry lists a referrer, and if a tag has the list, still does after about that wait, and once more.
func (r *Repository) isListed(ctx context.Context, subject, d oci.Descriptor, wait time.Duration) (bool, error) {
	for check := range listedChecks {
		if check > 0 {
			if err := sleep(ctx, wait/2+rand.N(wait)); err != nil {
				return false, err
			}
		}
		found, err := r.origin.referrers(ctx, subject)
		if err != nil {
			return false, r.origin.explain(ctx, fmt.Sprintf("list what refers to %s in %s", subject.Digest, r.name), err)
		}
		if !slices.ContainsFunc(found, func(ref oci.Descriptor) bool { return ref.Digest == d.Digest }) {
			return false, nil
		}
		if check == 0 && r.hasAPI(ctx) {
			return true, nil
		}
	}
	return true, nil
}

// hasAPI reports whether the registry is known to keep the list itself.
func (r *Repository) hasAPI(ctx context.Context) bool {
	repo, err := r.origin.open(ctx)
	return err == nil && supportsReferrers(repo)
}

// supportsReferrers reports what the repository has found out: it refuses to be told otherwise.
func supportsReferrers(repo *remote.Repository) bool { return repo.SetReferrersCapability(true) == nil }

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
