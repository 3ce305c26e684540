package layout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// A Repository is a part of a layout with tags of its own. It is an [oci.Target], and safe for concurrent use.
type Repository struct {
	l    *Layout
	name string
}

var _ oci.Target = (*Repository)(nil)

// Repository returns the repository of a name, as host/repository. The empty name is the repository whose tags are the
// names in the index, as other programs write them; the names of another are its own name, a colon and the tag.
func (l *Layout) Repository(name string) *Repository { return &Repository{l, name} }

func (r *Repository) fullName(tag string) string {
	if r.name == "" {
		return tag
	}
	return r.name + ":" + tag
}

// Resolve returns the descriptor of the manifest that a tag of the repository names, or of a manifest in any repository.
func (r *Repository) Resolve(_ context.Context, locator string) (oci.Descriptor, error) {
	x, err := r.l.readIndex()
	if err != nil {
		return oci.Descriptor{}, r.l.fail(err)
	}
	found := x.named(r.fullName(locator))
	if strings.HasPrefix(locator, "sha256:") {
		found = x.withDigest(oci.Digest(locator))
	}
	if found == nil {
		return oci.Descriptor{}, r.l.fail(fmt.Errorf("%s: %w%s", r.fullName(locator), oci.ErrNotFound, r.alternatives(x)))
	}
	if err := check(*found); err != nil {
		return oci.Descriptor{}, r.l.fail(fmt.Errorf("%s: %s: %w", indexFile, r.fullName(locator), err))
	}
	return plain(*found), nil
}

// alternatives says what could be resolved in a layout of another program, of which some give no names.
func (r *Repository) alternatives(x *index) string {
	if r.name != "" || len(x.Manifests) == 0 {
		return ""
	}
	const most = 5
	var known []string
	for _, e := range x.Manifests[:min(len(x.Manifests), most)] {
		known = append(known, fmt.Sprintf("%.100q", cmp.Or(e.Annotations[nameKey], string(e.Digest))))
	}
	if len(x.Manifests) > most {
		known = append(known, fmt.Sprintf("%d more", len(x.Manifests)-most))
	}
	return ": the layout has " + strings.Join(known, ", ")
}

// plain returns a descriptor without the annotations of the index.
func plain(d oci.Descriptor) oci.Descriptor {
	return oci.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size, ArtifactType: d.ArtifactType}
}

// Fetch opens a manifest or blob. Reading it fails with a [CorruptError] before the last byte if its digest is wrong.
func (r *Repository) Fetch(_ context.Context, d oci.Descriptor) (io.ReadCloser, error) {
	blob, err := r.l.fetch(d)
	return blob, r.l.fail(notFound(err, d.Digest))
}

func notFound(err error, digest oci.Digest) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", digest, oci.ErrNotFound)
	}
	return err
}

// Referrers returns the manifests of any repository that name d as their subject, at most [oci.MaxReferrers].
func (r *Repository) Referrers(ctx context.Context, d oci.Descriptor) (found []oci.Descriptor, err error) {
	x, err := r.l.readIndex()
	if err != nil {
		return nil, r.l.fail(err)
	}
	for _, e := range x.Manifests {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !mayRefer(e, d.Digest) || slices.ContainsFunc(found, func(f oci.Descriptor) bool { return f.Digest == e.Digest }) {
			continue
		}
		m, err := r.l.manifest(e)
		if err != nil || m.Subject == nil || m.Subject.Digest != d.Digest {
			continue // a referrer that cannot be read vouches for nothing
		}
		e = plain(e)
		e.ArtifactType, e.Annotations = m.artifactType(), m.Annotations
		if found = append(found, e); len(found) == oci.MaxReferrers {
			break
		}
	}
	return found, nil
}

// mayRefer reports whether an entry may be that of a manifest about a subject. What wasmres wrote says so itself.
func mayRefer(e oci.Descriptor, subject oci.Digest) bool {
	if !isManifest(e.MediaType) {
		return false
	}
	if e.Annotations[storedKey] != "" {
		return e.Annotations[subjectKey] == string(subject)
	}
	return true
}

// manifest reads, verifies and decodes a manifest.
func (l *Layout) manifest(d oci.Descriptor) (*manifest, error) {
	text, err := l.readManifest(d)
	if err != nil {
		return nil, notFound(err, d.Digest)
	}
	return decodeManifest(text)
}

// Tags returns the tags of the repository, sorted, without those that stand for referrers.
func (r *Repository) Tags(context.Context) (tags []string, err error) {
	x, err := r.l.readIndex()
	if err != nil {
		return nil, r.l.fail(err)
	}
	prefix := r.fullName("")
	for _, e := range x.Manifests {
		tag, ours := strings.CutPrefix(e.Annotations[nameKey], prefix)
		if ours && oci.IsTag(tag) && !oci.IsReferrersTag(tag) {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// Exists reports whether a blob is stored, or whether a manifest is in the index and all is stored that it names.
// [Layout.Prune] does not remove what exists for the grace period.
func (r *Repository) Exists(ctx context.Context, d oci.Descriptor) (bool, error) {
	if err := check(d); err != nil {
		return false, r.l.fail(err)
	}
	unlock, err := r.l.shared(ctx)
	if err != nil {
		return false, r.l.fail(err)
	}
	defer unlock()
	found, err := r.l.has(d)
	if err != nil || !found || !isManifest(d.MediaType) {
		return found, r.l.fail(err)
	}
	found, err = r.existsManifest(d)
	return found, r.l.fail(err)
}

// ErrIncomplete says that the layout lacks what a manifest names. Another process may have pruned it with a short grace period.
var ErrIncomplete = errors.New("cannot be stored before all that it names")

func (r *Repository) existsManifest(d oci.Descriptor) (bool, error) {
	x, err := r.l.readIndex()
	if err != nil || x.withDigest(d.Digest) == nil {
		return false, err
	}
	m, err := r.l.manifest(d)
	if err != nil {
		return false, nil // to be stored again
	}
	return r.l.hasParts(m)
}

// Push stores d.Size bytes of src, whose digest must be d's. A manifest, which is stored after all that it names, enters the
// index without a name, and is then on disk with all that it names. If Push fails, nothing of src is stored.
func (r *Repository) Push(ctx context.Context, d oci.Descriptor, src io.Reader) error {
	if err := check(d); err != nil {
		return r.l.fail(err)
	}
	if isManifest(d.MediaType) {
		return r.l.fail(r.pushManifest(ctx, d, src))
	}
	if exists, err := r.Exists(ctx, d); err != nil || exists {
		return err
	}
	return r.l.fail(r.l.write(ctx, d, src))
}

func (r *Repository) pushManifest(ctx context.Context, d oci.Descriptor, src io.Reader) error {
	var text bytes.Buffer
	if err := copyExactly(ctx, &text, d, src); err != nil {
		return err
	}
	m, err := decodeManifest(text.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", d.Digest, err)
	}
	if m.MediaType != "" && m.MediaType != d.MediaType {
		return fmt.Errorf("%s has the media type %.100q, but its descriptor says %s", d.Digest, m.MediaType, d.MediaType)
	}
	if err := r.l.write(ctx, d, bytes.NewReader(text.Bytes())); err != nil {
		return err
	}
	if err := r.l.syncDir(blobDir); err != nil {
		return err
	}
	return r.l.update(ctx, func(x *index) (bool, error) {
		if complete, err := r.l.hasParts(m); err != nil || !complete {
			return false, errors.Join(err, fmt.Errorf("the manifest %s %w", d.Digest, ErrIncomplete))
		}
		if x.withDigest(d.Digest) != nil {
			return false, nil
		}
		d := plain(d)
		d.ArtifactType = m.ArtifactType
		d.Annotations = r.notes(m)
		x.Manifests = append(x.Manifests, d)
		return true, nil
	})
}

// notes returns the annotations of an entry without a name.
func (r *Repository) notes(m *manifest) map[string]string {
	notes := map[string]string{}
	if r.name != "" {
		notes[repositoryKey] = r.name
		notes[storedKey] = time.Now().UTC().Format(time.RFC3339)
	}
	if r.name != "" && m.Subject != nil {
		notes[subjectKey] = string(m.Subject.Digest)
	}
	return notes
}

// Tag has a tag name a manifest that is in the index. When it returns without an error, the name is on disk. With
// [Options.Compress], a tag that moves on has one or two modules compressed that are idle, each in a fraction of a second.
func (r *Repository) Tag(ctx context.Context, d oci.Descriptor, tag string) error {
	if err := check(d); err != nil {
		return r.l.fail(err)
	}
	if !oci.IsTag(tag) {
		return r.l.fail(fmt.Errorf("%.200q is no tag", tag))
	}
	moved := false
	err := r.l.update(ctx, func(x *index) (bool, error) {
		m, err := r.l.manifest(d)
		if err != nil {
			return false, err
		}
		if e := x.named(r.fullName(tag)); e != nil {
			if e.Digest == d.Digest {
				return false, nil
			}
			moved = true
		}
		named := plain(d)
		named.ArtifactType = m.ArtifactType
		x.setName(named, r.fullName(tag), r.notes(m))
		return true, nil
	})
	if err == nil && moved && r.l.o.Compress {
		_, _, _ = r.l.compressIdle(ctx, defaultGrace, 2) // Prune does it if this fails
	}
	return r.l.fail(err)
}

// Remove removes a tag, or all that the repository calls by a digest. What had the name stays until [Layout.Prune] removes it,
// unless something else needs it.
func (r *Repository) Remove(ctx context.Context, locator string) error {
	drop := func(e oci.Descriptor) bool { return e.Annotations[nameKey] == r.fullName(locator) }
	if strings.HasPrefix(locator, "sha256:") {
		drop = func(e oci.Descriptor) bool { return string(e.Digest) == locator && r.has(e) }
	}
	return r.l.fail(r.l.update(ctx, func(x *index) (bool, error) {
		if !x.remove(drop) {
			return false, fmt.Errorf("%s: %w", r.fullName(locator), oci.ErrNotFound)
		}
		return true, nil
	}))
}

// has reports whether an entry of the index belongs to the repository.
func (r *Repository) has(e oci.Descriptor) bool {
	if name := e.Annotations[nameKey]; name != "" {
		tag, ours := strings.CutPrefix(name, r.fullName(""))
		return ours && oci.IsTag(tag)
	}
	return e.Annotations[repositoryKey] == r.name
}
