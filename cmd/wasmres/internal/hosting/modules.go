package hosting

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/references"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
)

// modules get the modules of references. They open the store and the trust policy for the first reference: a server of files
// alone needs neither.
type modules struct {
	context    *cli.Context // with the flags
	registries tenant.Registries
	given      string // the folder of modules that references of the API name

	mu     sync.Mutex         // guards source
	source *references.Source // nil before the first reference
}

// get gets the module of a reference in a file.
func (m *modules) get(ctx context.Context, reference string) (host.Module, error) {
	return m.by((*references.Source).Get, ctx, reference)
}

// getGiven gets the module of a reference that the API was given.
func (m *modules) getGiven(ctx context.Context, reference string) (host.Module, error) {
	return m.by((*references.Source).GetGiven, ctx, reference)
}

// pullGiven gets the module that a reference which the API was given names in its registry now.
func (m *modules) pullGiven(ctx context.Context, reference string) (host.Module, error) {
	return m.by((*references.Source).PullGiven, ctx, reference)
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
	m.source, err = references.OpenSource(m.context, m.registries, m.given)
	return m.source, err
}

func (m *modules) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.source != nil {
		_ = m.source.Close() // nothing is lost: all that the store has is on disk
	}
}
