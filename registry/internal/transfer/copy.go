package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
)

// A Progress says how many bytes of a module, or another blob, have been copied.
type Progress struct {
	Descriptor oci.Descriptor
	Done       int64 // of Descriptor.Size
	Exists     bool  // the target had it: no byte is copied
}

// Options are how an artifact is copied.
type Options struct {
	// Verify is called with the signatures before any byte of the module is fetched. An error ends the copy. Nil accepts all.
	Verify     func(context.Context, *Artifact) error
	Signatures bool           // copies the signatures too
	MaxModule  int64          // in bytes; 0 for [oci.MaxModule]
	Progress   func(Progress) // called with each part; nil for none
}

const (
	attempts = 3 // at one blob
	backoff  = 200 * time.Millisecond
)

// Copy copies the provider that a tag or digest names to a target, and tags it there unless tag is empty.
func Copy(ctx context.Context, from oci.Source, locator string, to oci.Target, tag string, o Options) (*Artifact, error) {
	if o.MaxModule == 0 {
		o.MaxModule = oci.MaxModule
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	a, err := Open(ctx, from, locator, o.MaxModule)
	if err != nil {
		return nil, err
	}
	if o.Signatures || o.Verify != nil {
		if err := a.FetchSignatures(ctx, from); err != nil {
			return nil, err
		}
	}
	if o.Verify != nil {
		if err := o.Verify(ctx, a); err != nil {
			return nil, err
		}
	}
	c := &copier{from: from, to: to, progress: o.Progress}
	if !o.Signatures {
		a.Signatures = nil
	}
	return a, c.artifact(ctx, a, tag)
}

// PushSignature stores a bundle about subject, and returns the descriptor of its manifest.
func PushSignature(ctx context.Context, to oci.Target, bundle []byte, subject oci.Descriptor) (oci.Descriptor, error) {
	if len(bundle) > oci.MaxBundle {
		return oci.Descriptor{}, fmt.Errorf("the bundle has %d bytes: at most %d are accepted", len(bundle), oci.MaxBundle)
	}
	p, err := oci.PackSignature(bundle, subject)
	if err != nil {
		return oci.Descriptor{}, err
	}
	c := &copier{to: to, progress: func(Progress) {}}
	return p.Manifest, c.signature(ctx, Signature{
		Descriptor: p.Manifest, Bytes: p.ManifestBytes, Config: p.Config, Layer: p.Module, Bundle: bundle,
	})
}

type copier struct {
	from     oci.Source
	to       oci.Target
	progress func(Progress)
}

// A tagger is a target that can store a manifest and tag it at once.
type tagger interface {
	PushTagged(ctx context.Context, d oci.Descriptor, manifest []byte, tag string) error
}

// artifact copies blobs before the manifest that names them, and tags it last.
func (c *copier) artifact(ctx context.Context, a *Artifact, tag string) error {
	for _, d := range []oci.Descriptor{a.Module, a.Manifest.Config} {
		if err := c.blob(ctx, d, c.open(d)); err != nil {
			return err
		}
	}
	if t, ok := c.to.(tagger); ok && tag != "" && len(a.Signatures) == 0 {
		return t.PushTagged(ctx, a.Descriptor, a.Bytes, tag)
	}
	if err := c.blob(ctx, a.Descriptor, whole(a.Bytes)); err != nil {
		return err
	}
	for _, s := range a.Signatures {
		if err := c.signature(ctx, s); err != nil {
			return err
		}
	}
	if tag == "" {
		return nil
	}
	return c.to.Tag(ctx, a.Descriptor, tag)
}

var empty = []byte("{}")

func (c *copier) signature(ctx context.Context, s Signature) error {
	config := c.open(s.Config)
	if s.Config.Digest == oci.DigestOf(empty) {
		config = whole(empty)
	}
	if err := c.blob(ctx, s.Layer, whole(s.Bundle)); err != nil {
		return err
	}
	if err := c.blob(ctx, s.Config, config); err != nil {
		return err
	}
	// Pushed even if the target has it: it may have it without listing it.
	return c.to.Push(ctx, s.Descriptor, bytes.NewReader(s.Bytes))
}

// An opener opens the bytes of a blob. again is why the last attempt failed.
type opener func(ctx context.Context, again error) (io.ReadCloser, error)

func whole(b []byte) opener {
	return func(context.Context, error) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// open fetches from the source; after wrong bytes of a mirror from the origin alone.
func (c *copier) open(d oci.Descriptor) opener {
	from := c.from
	return func(ctx context.Context, again error) (io.ReadCloser, error) {
		if origin := originOf(from, again); origin != nil {
			from = origin
		}
		return from.Fetch(ctx, d)
	}
}

// A mounter is a target that may take a blob from the source without its bytes passing through here.
type mounter interface {
	Mount(ctx context.Context, d oci.Descriptor, from oci.Source, open func() (io.ReadCloser, error)) (done bool, err error)
}

// blob copies a blob or manifest that the target does not have. It repeats what was interrupted at the target: a source resumes
// by itself, unless a mirror of it had wrong bytes.
func (c *copier) blob(ctx context.Context, d oci.Descriptor, open opener) error {
	has, err := c.to.Exists(ctx, d)
	if err != nil {
		return err
	}
	if has {
		c.progress(Progress{Descriptor: d, Done: d.Size, Exists: true})
		return nil
	}
	for attempt := 1; ; attempt++ {
		var read error
		read, err = c.push(ctx, d, open, err)
		interrupted := read == nil && errors.Is(err, oci.ErrInterrupted)
		if err == nil || attempt == attempts || !interrupted && originOf(c.from, read) == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(backoff << attempt):
		}
	}
}

// push copies a blob once. It returns why the source failed too, if it was the source.
func (c *copier) push(ctx context.Context, d oci.Descriptor, open opener, again error) (read, err error) {
	var last *counted
	content := func() (io.ReadCloser, error) {
		r, err := open(ctx, again)
		if err != nil {
			read = err
			return nil, err
		}
		last = &counted{from: oci.Verify(r, d), close: r.Close, at: Progress{Descriptor: d}, tell: c.progress}
		return last, nil
	}
	defer func() {
		if last != nil {
			read = last.failed()
		}
	}()
	if m, ok := c.to.(mounter); ok && c.from != nil {
		if done, err := m.Mount(ctx, d, c.from, content); done || err != nil {
			return nil, err
		}
	}
	r, err := content()
	if err != nil {
		return read, err
	}
	defer r.Close()
	return nil, c.to.Push(ctx, d, r)
}

// counted reports each part that was read.
type counted struct {
	from  io.Reader
	close func() error
	at    Progress
	tell  func(Progress)

	mu  sync.Mutex // a target may still read when it has failed
	err error      // of the source
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		c.at.Done += int64(n)
		c.tell(c.at)
	}
	if err != nil && err != io.EOF {
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
	}
	return n, err
}

func (c *counted) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *counted) Close() error { return c.close() }
