package oci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// The types of OCI's specification.
type (
	Digest     = digest.Digest
	Descriptor = v1.Descriptor
	Manifest   = v1.Manifest
	Index      = v1.Index
)

// The media types.
const (
	ManifestType = v1.MediaTypeImageManifest
	IndexType    = v1.MediaTypeImageIndex
	EmptyType    = v1.MediaTypeEmptyJSON
	ProviderType = "application/vnd.wasmres.provider.v1" // the artifact type of a provider
	ConfigType   = "application/vnd.wasm.config.v0+json"
	ModuleType   = "application/wasm"
	BundleType   = "application/vnd.dev.sigstore.bundle.v0.3+json" // the artifact and layer type of a signature
)

// moduleTypes are the media types of a module's layer that are accepted: the one that wasmres writes, and older ones.
var moduleTypes = []string{ModuleType, "application/vnd.wasm.content.layer.v1+wasm", "application/vnd.module.wasm.content.layer.v1+wasm"}

// Bounds of what others send, in bytes and numbers.
const (
	MaxManifest  = 4 << 20
	MaxConfig    = 1 << 20
	MaxBundle    = 1 << 20
	MaxModule    = 64 << 20 // as the host accepts of a file
	MaxReferrers = 64
	maxLayers    = 1000
)

// IsModule reports whether a media type is that of a module.
func IsModule(mediaType string) bool { return slices.Contains(moduleTypes, mediaType) }

// DigestOf returns the SHA-256 digest of b.
func DigestOf(b []byte) Digest { return digest.SHA256.FromBytes(b) }

// DescriptorOf returns the descriptor of b.
func DescriptorOf(mediaType string, b []byte) Descriptor {
	return Descriptor{MediaType: mediaType, Digest: DigestOf(b), Size: int64(len(b))}
}

// CheckDescriptor checks what a manifest, an index or a registry says of a blob: SHA-256, and a size from 0 to max.
func CheckDescriptor(d Descriptor, max int64) error {
	switch {
	case !digestForm.MatchString(string(d.Digest)):
		return fmt.Errorf("digest %.100q is not sha256: and 64 hexadecimal digits", d.Digest)
	case d.Size < 0 || d.Size > max:
		return fmt.Errorf("%s has %d bytes: at most %d are accepted", d.Digest, d.Size, max)
	}
	return nil
}

// A Packed is what describes a module in a registry: its configuration and manifest, to be stored after the module.
type Packed struct {
	Module, Config, Manifest Descriptor
	ConfigBytes              []byte
	ManifestBytes            []byte
}

// CreatedAnnotation says in a manifest when the provider was made, as 2026-11-20T12:00:00Z.
const CreatedAnnotation = v1.AnnotationCreated

// Pack describes a module of the given digest and size. The same arguments give the same bytes. Annotations are those of
// the manifest; file is the name that other programs give to the module's file. created is part of both documents, of the
// manifest as [CreatedAnnotation] unless it is zero or annotations have that.
func Pack(module Descriptor, file string, created time.Time, annotations map[string]string) (Packed, error) {
	p := Packed{Module: module}
	if _, given := annotations[CreatedAnnotation]; !given && !created.IsZero() {
		annotations = maps.Clone(annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[CreatedAnnotation] = created.UTC().Format(time.RFC3339)
	}
	p.Module.MediaType = ModuleType
	p.Module.Annotations = map[string]string{v1.AnnotationTitle: file}
	var err error
	p.ConfigBytes, err = json.Marshal(config{
		Created: created.UTC().Format(time.RFC3339), Architecture: "wasm", OS: "wasip1", LayerDigests: []Digest{module.Digest},
	})
	if err != nil {
		return Packed{}, err
	}
	p.Config = DescriptorOf(ConfigType, p.ConfigBytes)
	p.ManifestBytes, err = json.Marshal(Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ManifestType, ArtifactType: ProviderType,
		Config: p.Config, Layers: []Descriptor{p.Module}, Annotations: annotations,
	})
	if err != nil {
		return Packed{}, err
	}
	p.Manifest = DescriptorOf(ManifestType, p.ManifestBytes)
	p.Manifest.ArtifactType = ProviderType
	return p, nil
}

// config is the configuration of a module: the layout of the CNCF for WebAssembly in OCI.
type config struct {
	Created      string   `json:"created"`
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"`
	LayerDigests []Digest `json:"layerDigests"`
}

// PackSignature describes a sigstore bundle about subject: the manifest of a referrer and its empty configuration.
func PackSignature(bundle []byte, subject Descriptor) (Packed, error) {
	empty := v1.DescriptorEmptyJSON
	p := Packed{Module: DescriptorOf(BundleType, bundle), ConfigBytes: empty.Data, Config: empty}
	p.Config.Data = nil
	p.Config.ArtifactType = BundleType
	var err error
	p.ManifestBytes, err = json.Marshal(Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ManifestType, ArtifactType: BundleType,
		Config: p.Config, Layers: []Descriptor{p.Module},
		Subject: &Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
		Annotations: map[string]string{
			"dev.sigstore.bundle.content":       "dsse-envelope",
			"dev.sigstore.bundle.predicateType": "https://sigstore.dev/cosign/sign/v1",
		},
	})
	if err != nil {
		return Packed{}, err
	}
	p.Manifest = DescriptorOf(ManifestType, p.ManifestBytes)
	p.Manifest.ArtifactType = BundleType
	return p, nil
}

// Unmarshal decodes JSON with at most limit descriptors, each of which has many commas. It refuses others before it decodes
// them: short descriptors take a hundred times as much memory as their text.
func Unmarshal(text []byte, limit int, into any) error {
	if n := bytes.Count(text, []byte{','}); n > 20*limit {
		return fmt.Errorf("it has more than %d descriptors, or %d commas", limit, n)
	}
	return json.Unmarshal(text, into)
}

// ParseManifest parses the manifest of an image and checks the descriptors that it has. b is at most [MaxManifest] bytes.
func ParseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if len(b) > MaxManifest {
		return m, fmt.Errorf("the manifest has %d bytes: at most %d are accepted", len(b), MaxManifest)
	}
	if err := Unmarshal(b, maxLayers, &m); err != nil {
		return m, fmt.Errorf("the manifest is no JSON of a manifest: %w", err)
	}
	if m.SchemaVersion != 2 || m.MediaType != "" && m.MediaType != ManifestType {
		return m, fmt.Errorf("it is no image manifest of OCI: schema version %d, media type %.100q", m.SchemaVersion, m.MediaType)
	}
	if m.Subject != nil {
		if err := CheckDescriptor(*m.Subject, MaxManifest); err != nil {
			return m, fmt.Errorf("the subject of the manifest: %w", err)
		}
	}
	return m, CheckDescriptor(m.Config, MaxConfig)
}

// ModuleOf returns the layer with the module of a provider, which is at most maxModule bytes.
func ModuleOf(m Manifest, maxModule int64) (Descriptor, error) {
	if len(m.Layers) != 1 {
		return Descriptor{}, fmt.Errorf("the manifest has %d layers: a provider has one, its module", len(m.Layers))
	}
	layer := m.Layers[0]
	if !IsModule(layer.MediaType) {
		return Descriptor{}, fmt.Errorf("the layer of the manifest is %.100q, not %s: it is no provider", layer.MediaType, ModuleType)
	}
	if err := CheckDescriptor(layer, maxModule); err != nil {
		return Descriptor{}, fmt.Errorf("the module of the manifest: %w", err)
	}
	return layer, nil
}

// ErrNoBundle says that a referrer is no signature.
var ErrNoBundle = errors.New("it is no sigstore bundle")

// BundleOf returns the layer with the bundle of a signature about subject. An error that is [ErrNoBundle] says that the
// manifest is about something else.
func BundleOf(m Manifest, subject Descriptor) (Descriptor, error) {
	if len(m.Layers) != 1 || m.Layers[0].MediaType != BundleType {
		return Descriptor{}, ErrNoBundle
	}
	if m.Subject == nil || m.Subject.Digest != subject.Digest {
		return Descriptor{}, fmt.Errorf("the signature is about another manifest than %s", subject.Digest)
	}
	return m.Layers[0], CheckDescriptor(m.Layers[0], MaxBundle)
}
