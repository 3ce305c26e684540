package layout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// Bounds of an index, and of the descriptors in one manifest.
const (
	maxIndex   = 4 << 20 // bytes
	maxEntries = 10_000
	maxParts   = 1000
)

// Annotations of the entries of an index. Those of wasmres are only in the layouts of named repositories.
const (
	nameKey       = "org.opencontainers.image.ref.name"
	repositoryKey = "dev.wasmres.repository" // the repository of an entry without a name
	storedKey     = "dev.wasmres.stored"     // when the entry was made, as in RFC 3339
	subjectKey    = "dev.wasmres.subject"    // the digest of the subject of the manifest, if it has one
)

// An index is the content of index.json.
type index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType,omitempty"`
	Manifests     []oci.Descriptor  `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

func decodeIndex(text []byte) (*index, error) {
	x := &index{}
	if err := oci.Unmarshal(text, maxEntries, x); err != nil {
		return nil, err
	}
	if x.SchemaVersion != 2 || x.MediaType != "" && x.MediaType != oci.IndexType {
		return nil, fmt.Errorf("it is no index of OCI: schema version %d, media type %.100q", x.SchemaVersion, x.MediaType)
	}
	return x, nil
}

// encode fails if the index is larger than what decodeIndex and readIndex accept.
func (x *index) encode() ([]byte, error) {
	if x.Manifests == nil {
		x.Manifests = []oci.Descriptor{}
	}
	text, err := json.Marshal(x)
	if err == nil && (len(text) > maxIndex || len(x.Manifests) > maxEntries) {
		err = fmt.Errorf("%s would have %d manifests and %d bytes, at most %d and %d are accepted: remove some with "+
			"wasmres images", indexFile, len(x.Manifests), len(text), maxEntries, maxIndex)
	}
	return text, err
}

// readIndex reads the index as it is now. A layout without one has no manifests.
func (l *Layout) readIndex() (*index, error) {
	text, err := l.readFile(indexFile, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{SchemaVersion: 2, MediaType: oci.IndexType}, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := decodeIndex(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	return x, nil
}

// update has edit change the index, while no other process can change it, and stores it if edit reports a change.
func (l *Layout) update(ctx context.Context, edit func(*index) (changed bool, err error)) error {
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	l.o.step("index locked")
	x, err := l.readIndex()
	if err != nil {
		return err
	}
	changed, err := edit(x)
	if err != nil || !changed {
		return err
	}
	return l.writeIndex(x)
}

// writeIndex replaces the index. The caller has locked it.
func (l *Layout) writeIndex(x *index) error {
	text, err := x.encode()
	if err != nil {
		return err
	}
	return l.replace(indexFile, text)
}

// named returns the entry with a name, the last one if another program wrote several; nil if there is none.
func (x *index) named(name string) *oci.Descriptor {
	for i := range slices.Backward(x.Manifests) {
		if x.Manifests[i].Annotations[nameKey] == name {
			return &x.Manifests[i]
		}
	}
	return nil
}

// withDigest returns an entry of a manifest; nil if there is none.
func (x *index) withDigest(digest oci.Digest) *oci.Descriptor {
	i := slices.IndexFunc(x.Manifests, func(d oci.Descriptor) bool { return d.Digest == digest })
	if i < 0 {
		return nil
	}
	return &x.Manifests[i]
}

// remove removes the entries that drop selects, and reports whether there were any.
func (x *index) remove(drop func(oci.Descriptor) bool) bool {
	before := len(x.Manifests)
	x.Manifests = slices.DeleteFunc(x.Manifests, drop)
	return len(x.Manifests) != before
}

// setName gives a manifest a name. The manifest that had the name stays in the index.
func (x *index) setName(d oci.Descriptor, name string, notes map[string]string) {
	previous := x.named(name)
	var moved oci.Descriptor
	if previous != nil && previous.Digest != d.Digest {
		moved = *previous
	}
	x.remove(func(e oci.Descriptor) bool {
		return e.Annotations[nameKey] == name ||
			e.Digest == d.Digest && e.Annotations[nameKey] == "" && e.Annotations[repositoryKey] == notes[repositoryKey]
	})
	if moved.Digest != "" && x.withDigest(moved.Digest) == nil {
		moved.Annotations = without(moved.Annotations, nameKey)
		if repository := notes[repositoryKey]; repository != "" {
			moved.Annotations[repositoryKey] = repository
		}
		x.Manifests = append(x.Manifests, moved)
	}
	d.Annotations = without(notes, repositoryKey)
	d.Annotations[nameKey] = name
	x.Manifests = append(x.Manifests, d)
}

// without returns a copy of annotations without one key.
func without(annotations map[string]string, key string) map[string]string {
	rest := map[string]string{}
	for k, v := range annotations {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}

// storedAt returns when wasmres made an entry; the zero time if another program made it.
func storedAt(d oci.Descriptor) time.Time {
	t, _ := time.Parse(time.RFC3339, d.Annotations[storedKey])
	return t
}

// isManifest reports whether a media type is that of a manifest, which is listed in an index, and not of a blob.
func isManifest(mediaType string) bool {
	switch mediaType {
	case oci.ManifestType, oci.IndexType, "application/vnd.docker.distribution.manifest.v2+json",
		"application/vnd.docker.distribution.manifest.list.v2+json":
		return true
	}
	return false
}

// A manifest is what counts of any type of manifest: what it names.
type manifest struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Config       *oci.Descriptor   `json:"config"`
	Layers       []oci.Descriptor  `json:"layers"`
	Manifests    []oci.Descriptor  `json:"manifests"`
	Subject      *oci.Descriptor   `json:"subject"`
	Annotations  map[string]string `json:"annotations"`
}

// decodeManifest decodes a manifest and checks the descriptors in it.
func decodeManifest(text []byte) (*manifest, error) {
	m := &manifest{}
	if err := oci.Unmarshal(text, maxParts, m); err != nil {
		return nil, fmt.Errorf("it is no manifest: %w", err)
	}
	for _, d := range m.parts() {
		if err := oci.CheckDescriptor(d, maxBlob); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// parts returns what the manifest cannot be used without.
func (m *manifest) parts() []oci.Descriptor {
	parts := slices.Concat(m.Layers, m.Manifests)
	if m.Config != nil {
		parts = append(parts, *m.Config)
	}
	return parts
}

// artifactType returns the type as OCI defines it: of the manifest, or else of its configuration.
func (m *manifest) artifactType() string {
	if m.ArtifactType == "" && m.Config != nil {
		return m.Config.MediaType
	}
	return m.ArtifactType
}
