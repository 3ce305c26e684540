package hosting

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/host"
)

// modules get the modules of references. They open the store and the trust policy for the first reference: a server of files
// alone needs neither.
type modules struct {
	context *cli.Context // with the flags

	mu     sync.Mutex         // guards source
	source *references.Source // nil before the first reference
}

// get gets the module of a reference.
func (m *modules) get(ctx context.Context, reference string) (host.Module, error) {
	return m.by((*references.Source).Get, ctx, reference)
}

// pull gets the module that a reference names in its registry now.
func (m *modules) pull(ctx context.Context, reference string) (host.Module, error) {
	return m.by((*references.Source).Pull, ctx, reference)
}

func (m *modules) by(
	get func(*references.Source, context.Context, string) (references.Module, func(), error), ctx context.Context, reference string,
) (host.Module, error) {
	source, err := m.open()
	if err != nil {
		return host.Module{}, err
	}
	got, release, err := get(source, ctx, reference)
	return host.Module{File: got.File, Digest: got.Digest, From: got.From, Release: release}, err
}

func (m *modules) open() (*references.Source, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source != nil {
		return m.source, nil
	}
	var err error
	m.source, err = references.OpenSource(m.context)
	return m.source, err
}

func (m *modules) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source != nil {
		_ = m.source.Close() // nothing is lost: all that the store has is on disk
	}
}
