package module

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// stored says where a module can be loaded from again. It is fixed at creation. Its configuration has a Cache and a Source.
type stored struct {
	cfg    Config
	digest [sha256.Size]byte
}

// Light returns m without code and data, which take some megabytes, if Load can get them again; otherwise m itself.
func (m *Module) Light() *Module {
	if m.stored == nil {
		return m
	}
	light := *m
	light.light = true
	light.Manifest = bytes.Clone(m.Manifest) // it was a view of all that was loaded
	if m.Manifest != nil && light.Manifest == nil {
		light.Manifest = []byte{}
	}
	light.Code = &meter.Module{Imported: m.Code.Imported, Defined: m.Code.Defined}
	return &light
}

// IsLight reports whether m has neither code nor data.
func (m *Module) IsLight() bool { return m.light }

// Load returns the whole module: m itself unless it is light; otherwise from the cache, or made again from its source.
func (m *Module) Load() (*Module, error) {
	if !m.light {
		return m, nil
	}
	s := m.stored
	if whole := s.cfg.cached(s.digest); whole != nil {
		whole.stored = s
		return whole, nil
	}
	binary, err := s.cfg.Source()
	if err != nil {
		return nil, abi.Errorf(abi.CodeUnavailable, "the module of the provider cannot be read again").Because(err)
	}
	if got := digestName(sha256.Sum256(binary)); got != m.Digest {
		return nil, abi.Errorf(abi.CodeUnavailable, "the module of the provider was replaced: open the provider again").
			Because(fmt.Errorf("the digest is %s, expected %s", got, m.Digest))
	}
	return Instrument(&s.cfg, binary)
}

// Loader returns a function that loads the metered module again; nil if that is in memory.
func (m *Module) Loader() func() ([]byte, error) {
	if !m.light {
		return nil
	}
	return func() ([]byte, error) {
		whole, err := m.Load()
		if err != nil {
			return nil, err
		}
		return whole.Binary(), nil
	}
}

// Stripped returns the encoding of m without the code of its functions: an engine needs no more to load compiled code.
// It comes from the cache if it is there and m can become light.
func (m *Module) Stripped() ([]byte, error) {
	if text := m.cachedForm(strippedForm); text != nil {
		return text, nil
	}
	stripped, err := m.strip()
	if err != nil {
		return nil, err
	}
	text := stripped.Append(nil)
	m.cacheForm(strippedForm, text)
	m.cacheForm(headForm, stripped.WithoutData().Append(nil)) // a later start wants it, and is to be short
	return text, nil
}

// Head is [Module.Stripped] without the data of the memory, for a process whose instances all start from an image. Of a provider in
// Go, that is a fiftieth.
func (m *Module) Head() ([]byte, error) {
	if text := m.cachedForm(headForm); text != nil {
		return text, nil
	}
	stripped, err := m.strip()
	if err != nil {
		return nil, err
	}
	text := stripped.WithoutData().Append(nil)
	m.cacheForm(headForm, text)
	return text, nil
}

// strip returns m without the code of its functions.
func (m *Module) strip() (*Module, error) {
	whole, err := m.Load()
	if err != nil {
		return nil, err
	}
	binary, err := wasm.StripCode(whole.Code.Binary)
	if err != nil {
		return nil, abi.Errorf(abi.CodeModule, "not a WebAssembly module this engine accepts").Because(err)
	}
	stripped, code := *whole, *whole.Code
	code.Binary = binary
	code.Data = merged(code.Data, code.MinPages)
	stripped.Code = &code
	return &stripped, nil
}

// Forms are what the cache has of a module besides the whole.
const (
	strippedForm = "stripped"
	headForm     = "head"
)

// cachedForm returns the encoding that the cache has; nil if it has none, or m cannot become light.
func (m *Module) cachedForm(form string) []byte {
	if m.stored == nil {
		return nil
	}
	text := m.stored.cfg.Cache.Get(m.stored.formKey(form))
	if !bytes.HasPrefix(text, putString(nil, m.Digest)) {
		return nil
	}
	return text
}

// cacheForm stores an encoding, if m can become light.
func (m *Module) cacheForm(form string, text []byte) {
	if m.stored != nil {
		m.stored.cfg.Cache.Put(m.stored.formKey(form), text)
	}
}

// formKey returns the cache key of a form of the module.
func (s *stored) formKey(form string) [sha256.Size]byte {
	key := s.cfg.key(s.digest)
	return sha256.Sum256(append([]byte(form+" "), key[:]...))
}
