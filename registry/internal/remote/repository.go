package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
)

const (
	tagPage      = 1000
	maxTagPages  = 100
	maxTags      = 20_000
	maxReferrers = 4 // pages
	maxMetadata  = oci.MaxManifest
)

// A Repository of a registry. It implements [oci.Target] and is safe for concurrent use.
type Repository struct {
	name    string // for messages
	origin  *source
	mirrors []*source
}

// A source is a repository of the registry itself or of a mirror.
type source struct {
	*endpoint
	path string

	mu   sync.Mutex // guards repo
	repo *remote.Repository
}

func newSource(e *endpoint, path string) *source { return &source{endpoint: e, path: path} }

func (s *source) String() string { return s.host + "/" + s.path }

// open returns the client of oras-go, which has no connection of its own.
func (s *source) open(ctx context.Context) (*remote.Repository, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repo != nil {
		return s.repo, nil
	}
	plain, err := s.isPlain(ctx)
	if err != nil {
		return nil, err
	}
	s.repo = &remote.Repository{
		Client: s.client, Reference: registry.Reference{Registry: s.host, Repository: s.path}, PlainHTTP: plain,
		TagListPageSize: tagPage, TagListMaxPages: maxTagPages,
		ReferrerListMaxPages: maxReferrers, MaxMetadataBytes: maxMetadata,
		SkipReferrersGC: true, // registries that forbid to delete would answer an error for a signature that they have
	}
	return s.repo, nil
}

// do runs f with the repository of the registry itself.
func (r *Repository) do(ctx context.Context, doing string, f func(*remote.Repository) error) error {
	repo, err := r.origin.open(ctx)
	if err == nil {
		err = f(repo)
	}
	return r.origin.explain(ctx, doing+" "+r.name, err)
}

// Resolve implements [oci.Source]. The registry itself says what a tag names; mirrors are asked for digests.
func (r *Repository) Resolve(ctx context.Context, locator string) (found oci.Descriptor, err error) {
	if strings.Contains(locator, ":") {
		for _, m := range r.mirrors {
			if found, _, err = m.manifest(ctx, locator); err == nil {
				return found, nil
			}
		}
	}
	err = r.do(ctx, "resolve "+locator+" in", func(repo *remote.Repository) error {
		d, err := repo.Resolve(ctx, locator)
		if err != nil {
			return err
		}
		found = oci.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size}
		return oci.CheckDescriptor(found, oci.MaxManifest)
	})
	return found, err
}

// manifest fetches a manifest by its digest, whose size is not known.
func (s *source) manifest(ctx context.Context, digest string) (oci.Descriptor, []byte, error) {
	repo, err := s.open(ctx)
	if err != nil {
		return oci.Descriptor{}, nil, err
	}
	d, body, err := repo.FetchReference(ctx, digest)
	if err != nil {
		return oci.Descriptor{}, nil, err
	}
	defer body.Close()
	d = oci.Descriptor{MediaType: d.MediaType, Digest: oci.Digest(digest), Size: d.Size}
	b, err := oci.ReadAll(body, d, oci.MaxManifest)
	return d, b, err
}

// isManifest reports whether the registry keeps d among its manifests.
func isManifest(d oci.Descriptor) bool {
	return d.MediaType == oci.ManifestType || d.MediaType == oci.IndexType
}

// Fetch implements [oci.Source]. It asks the mirrors first. A manifest has been checked when Fetch returns; a blob is fetched
// while it is read, again from where the connection broke, and the caller checks it.
func (r *Repository) Fetch(ctx context.Context, d oci.Descriptor) (io.ReadCloser, error) {
	sources := append(slices.Clone(r.mirrors), r.origin)
	if !isManifest(d) {
		return r.download(ctx, d, sources)
	}
	var last error
	for _, s := range sources {
		b, err := s.fetchManifest(ctx, d)
		if err == nil {
			return io.NopCloser(bytes.NewReader(b)), nil
		}
		last = s.explain(ctx, fmt.Sprintf("fetch manifest %s of %s", d.Digest, s), err)
	}
	return nil, last
}

func (s *source) fetchManifest(ctx context.Context, d oci.Descriptor) ([]byte, error) {
	if err := oci.CheckDescriptor(d, oci.MaxManifest); err != nil {
		return nil, err
	}
	repo, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	body, err := repo.Manifests().Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return oci.ReadAll(body, d, oci.MaxManifest)
}

// Origin returns the same repository without its mirrors, for content that one of them gave wrong. It is nil if there are
// none.
func (r *Repository) Origin() oci.Source {
	if len(r.mirrors) == 0 {
		return nil
	}
	return &Repository{name: r.name, origin: r.origin}
}

// Tags implements [oci.Source].
func (r *Repository) Tags(ctx context.Context) ([]string, error) {
	var tags []string
	err := r.do(ctx, "list the tags of", func(repo *remote.Repository) error {
		return repo.Tags(ctx, "", func(page []string) error {
			for _, tag := range page {
				if oci.IsTag(tag) && !oci.IsReferrersTag(tag) {
					tags = append(tags, tag)
				}
			}
			if len(tags) > maxTags {
				return fmt.Errorf("more than %d tags: %w", maxTags, errdef.ErrTooManyPages)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// Exists implements [oci.Target]. It asks the registry itself.
func (r *Repository) Exists(ctx context.Context, d oci.Descriptor) (exists bool, err error) {
	err = r.do(ctx, fmt.Sprintf("look for %s in", d.Digest), func(repo *remote.Repository) error {
		var err error
		if isManifest(d) {
			exists, err = repo.Manifests().Exists(ctx, d)
		} else {
			exists, err = repo.Blobs().Exists(ctx, d)
		}
		return err
	})
	return exists, err
}

// Push implements [oci.Target]. A manifest with a subject is in the list of its referrers when Push returns.
func (r *Repository) Push(ctx context.Context, d oci.Descriptor, content io.Reader) error {
	if isManifest(d) {
		return r.pushManifest(ctx, d, content)
	}
	from := &recorder{from: content}
	err := r.do(ctx, fmt.Sprintf("push blob %s to", d.Digest), func(repo *remote.Repository) error {
		return repo.Blobs().Push(ctx, d, from)
	})
	if failed := from.failed(); err != nil && failed != nil {
		return failed
	}
	return err
}

// A recorder remembers why its reader failed: that is not for the registry to answer.
type recorder struct {
	from io.Reader

	mu  sync.Mutex // the transport may still read when a request has ended
	err error
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
	}
	return n, err
}

func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Repository) pushManifest(ctx context.Context, d oci.Descriptor, content io.Reader) error {
	b, err := oci.ReadAll(content, d, oci.MaxManifest)
	if err != nil {
		return err
	}
	push := func() error {
		return r.do(ctx, fmt.Sprintf("push manifest %s to", d.Digest), func(repo *remote.Repository) error {
			return repeat(ctx, func() error { return repo.Manifests().Push(ctx, d, bytes.NewReader(b)) })
		})
	}
	began := time.Now()
	if err := push(); err != nil {
		return err
	}
	took := time.Since(began)
	m, err := oci.ParseManifest(b)
	if err != nil || m.Subject == nil {
		return nil
	}
	return r.ensureListed(ctx, *m.Subject, d, took, push)
}

// Bounds of [repeat].
const (
	blobWait  = 50 * time.Millisecond // doubled each time
	blobTries = 5
)

// repeat pushes a manifest, again while the registry says that it lacks a blob of it. docker-registry says so for a moment when
// another client pushes the same blob, as the empty configuration of every signature.
func repeat(ctx context.Context, push func() error) error {
	for try, wait := 1, blobWait; ; try, wait = try+1, 2*wait {
		err := push()
		if !lacksBlob(err) || try == blobTries {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Tag implements [oci.Target].
func (r *Repository) Tag(ctx context.Context, d oci.Descriptor, tag string) error {
	return r.tag(ctx, tag, func(repo *remote.Repository) error { return repo.Tag(ctx, d, tag) })
}

// PushTagged stores a manifest without a subject under a tag, in one request.
func (r *Repository) PushTagged(ctx context.Context, d oci.Descriptor, manifest []byte, tag string) error {
	return r.tag(ctx, tag, func(repo *remote.Repository) error {
		return repeat(ctx, func() error { return repo.PushReference(ctx, d, bytes.NewReader(manifest), tag) })
	})
}

func (r *Repository) tag(ctx context.Context, tag string, f func(*remote.Repository) error) error {
	if !oci.IsTag(tag) {
		return fmt.Errorf("tag %s as %.100q: it is no tag", r.name, tag)
	}
	return r.do(ctx, "tag "+tag+" in", f)
}

// Mount has the registry take a blob from another of its repositories, and pushes what open returns if it does not. It
// reports false, and does nothing, if from is no such repository or d is a manifest.
func (r *Repository) Mount(ctx context.Context, d oci.Descriptor, from oci.Source, open func() (io.ReadCloser, error)) (bool, error) {
	other, ok := from.(*Repository)
	if !ok || isManifest(d) || other.origin.endpoint != r.origin.endpoint || other.origin.path == r.origin.path {
		return false, nil
	}
	var failed error
	err := r.do(ctx, fmt.Sprintf("push blob %s to", d.Digest), func(repo *remote.Repository) error {
		return repo.Mount(ctx, d, other.origin.path, func() (io.ReadCloser, error) {
			content, err := open()
			failed = err
			return content, err
		})
	})
	if err != nil && failed != nil {
		return true, failed
	}
	return true, err
}

var _ oci.Target = (*Repository)(nil)
