package layout

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// An Image is a manifest in the index of a layout, other than that of a signature. An image with several names is several
// Images.
type Image struct {
	// Name is host/repository:tag, or the tag in a layout that other programs wrote; empty for an image that has lost it.
	Name string
	// Repository is host/repository, also of an image without a name; empty in a layout that other programs wrote.
	Repository  string
	Manifest    oci.Descriptor
	Module      oci.Descriptor    // zero if the image is no provider, or not readable
	Annotations map[string]string // of the manifest
	Size        int64             // of the manifest and all that it names, in bytes
	Disk        int64             // of their files, which images may share
	Compressed  bool              // the module is stored compressed
	Stored      time.Time         // when the image was pulled, or added; zero if another program wrote it
	Used        time.Time         // when the module was last run; zero if it was not
	Running     bool              // a process has pinned it
	Signatures  int               // manifests with this one as their subject
	Err         error             // why the image cannot be used as it is; nil if it can
}

// Images returns the images, sorted by name, and those without a name last.
func (l *Layout) Images(ctx context.Context) (images []Image, err error) {
	x, err := l.readIndex()
	if err != nil {
		return nil, l.fail(err)
	}
	pinned, err := l.pinned(ctx)
	if err != nil {
		return nil, l.fail(err)
	}
	signatures := map[oci.Digest]int{}
	for _, e := range x.Manifests {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m, err := l.manifest(e)
		if err == nil && m.Subject != nil {
			signatures[m.Subject.Digest]++
			continue
		}
		image := l.image(e, m, err)
		image.Running = pinned[e.Digest]
		images = append(images, image)
	}
	for i := range images {
		images[i].Signatures = signatures[images[i].Manifest.Digest]
	}
	slices.SortStableFunc(images, compareImages)
	return images, nil
}

func compareImages(a, b Image) int {
	if (a.Name == "") != (b.Name == "") {
		return strings.Compare(b.Name, a.Name)
	}
	return strings.Compare(a.Name+a.Repository, b.Name+b.Repository)
}

// image describes an entry of the index, given its manifest or why there is none.
func (l *Layout) image(e oci.Descriptor, m *manifest, err error) Image {
	name := e.Annotations[nameKey]
	i := Image{Name: name, Repository: e.Annotations[repositoryKey], Manifest: plain(e), Stored: storedAt(e), Err: err}
	if colon := strings.LastIndexByte(name, ':'); colon >= 0 && !i.Stored.IsZero() {
		i.Repository = name[:colon]
	}
	if err != nil {
		return i
	}
	i.Annotations, i.Used = m.Annotations, l.lastUse(m)
	if len(m.Layers) == 1 && oci.IsModule(m.Layers[0].MediaType) {
		i.Module = m.Layers[0]
	}
	for _, part := range append(m.parts(), i.Manifest) {
		i.Size += part.Size
		file, info, err := l.stat(part.Digest)
		if err != nil {
			i.Err = fmt.Errorf("%w: get it again with wasmres pull", notFound(err, part.Digest))
			continue
		}
		i.Disk += info.Size()
		i.Compressed = i.Compressed || part.Digest == i.Module.Digest && file == zstdFile(part.Digest)
	}
	return i
}

// Usage is what a layout takes.
type Usage struct {
	Images    int   // manifests in the index, other than signatures
	Blobs     int   // files with blobs, manifests included
	Size      int64 // of the blobs, in bytes, as if none were compressed
	Disk      int64 // of all files, in bytes
	Removable int64 // of Disk, what [Layout.Prune] would free
}

// Usage counts images and bytes.
func (l *Layout) Usage(ctx context.Context) (u Usage, err error) {
	images, err := l.Images(ctx)
	if err != nil {
		return u, err
	}
	digests, sizes := map[oci.Digest]bool{}, map[string]int64{}
	for _, i := range images {
		digests[i.Manifest.Digest] = true
		sizes[zstdFile(i.Module.Digest)] = i.Module.Size
	}
	u.Images = len(digests)
	count := func(dir string, isBlob bool) error {
		return l.entries(ctx, dir, func(info fs.FileInfo) {
			u.Disk += info.Size()
			if !isBlob {
				return
			}
			u.Blobs++
			if plain, ok := sizes[dir+"/"+info.Name()]; ok {
				u.Size += plain
				return
			}
			u.Size += info.Size()
		})
	}
	for dir, isBlob := range map[string]bool{blobDir: true, zstdDir: true, ingestDir: false} {
		if err := count(dir, isBlob); err != nil {
			return u, l.fail(err)
		}
	}
	garbage, err := l.Prune(ctx, PruneOptions{DryRun: true})
	if isReadOnly(err) {
		return u, nil
	}
	u.Removable = garbage.Freed
	return u, err
}
