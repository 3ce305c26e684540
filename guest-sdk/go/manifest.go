package wasmres

import (
	"time"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/wire"
)

// sdkName is what the manifest tells of this SDK.
const sdkName = "go/1.0.0"

// A Manifest is what a provider says of itself. Its methods return it, so that they chain.
type Manifest struct {
	name, version      string
	title, description string
	prefixes           []string
	configSchema       string
	deadline           time.Duration
	memory, maxBody    uint64 // bytes
	lifecycle          uint64
	capabilities       []*Capability
}

// Provider names the provider. Call it once, in init.
func Provider(name, version string) *Manifest {
	registered.manifest.name, registered.manifest.version = name, version
	return &registered.manifest
}

// Title sets the name people see.
func (m *Manifest) Title(title string) *Manifest { m.title = title; return m }

// Describe says in a sentence or two what the provider offers.
func (m *Manifest) Describe(description string) *Manifest { m.description = description; return m }

// Prefixes bounds the URIs of this provider: the host refuses any other it might name.
func (m *Manifest) Prefixes(prefixes ...string) *Manifest {
	m.prefixes = append(m.prefixes, prefixes...)
	return m
}

// ConfigSchema gives the JSON Schema of the values [Request.Config] reads. wasmres does not check them against it yet.
func (m *Manifest) ConfigSchema(schema string) *Manifest { m.configSchema = schema; return m }

// Deadline asks for a longest time of one call. The operator's limit wins; wasmres does not act on the wish yet.
func (m *Manifest) Deadline(d time.Duration) *Manifest { m.deadline = d; return m }

// Memory asks for a number of bytes. The operator's limit wins; wasmres does not act on the wish yet.
func (m *Manifest) Memory(bytes uint64) *Manifest { m.memory = bytes; return m }

// MaxBody asks for a number of bytes one read may answer. The operator's limit wins; wasmres does not act on the wish
// yet.
func (m *Manifest) MaxBody(bytes uint64) *Manifest { m.maxBody = bytes; return m }

// PerSession asks that what handlers keep in package variables lasts for a session of a client, and is seen by no other.
// It is a convenience the operator may refuse, a session may lose, and clients without sessions never have.
func (m *Manifest) PerSession() *Manifest { m.lifecycle = lifecycleSession; return m }

// Shared asks that what handlers keep in package variables lasts, and is seen by everybody: for caches. The operator may
// refuse it, and it may be lost at any time.
func (m *Manifest) Shared() *Manifest { m.lifecycle = lifecycleShared; return m }

// A Capability is a power the provider asks the operator for. Its methods return it, so that they chain.
type Capability struct {
	name, params, reason string
	optional             bool
}

// Ask asks the operator for a power, as in Ask("fs", "reads the project's files"). The reason is shown to the person
// who decides.
func Ask(name, reason string) *Capability {
	c := &Capability{name: name, reason: reason}
	registered.manifest.capabilities = append(registered.manifest.capabilities, c)
	return c
}

// Optional says that the provider is of use without this power.
func (c *Capability) Optional() *Capability { c.optional = true; return c }

// Params sets a JSON object that says more, as which hosts are to be reached.
func (c *Capability) Params(json string) *Capability { c.params = json; return c }

func (c *Capability) append(b []byte) []byte {
	b, at := wire.Begin(b, 9)
	b = wire.AppendString(b, 1, c.name)
	b = wire.AppendString(b, 2, c.params)
	b = wire.AppendBool(b, 3, c.optional)
	b = wire.AppendString(b, 4, c.reason)
	return wire.End(b, at)
}

// append appends the manifest of a whole registry.
func (m *Manifest) append(b []byte, templates, statics []*Route, ops uint32) []byte {
	b = wire.AppendString(b, 2, m.name)
	b = wire.AppendString(b, 3, m.version)
	b = wire.AppendString(b, 4, m.title)
	b = wire.AppendString(b, 5, m.description)
	for _, t := range templates {
		b = t.appendTemplate(b)
	}
	for _, s := range statics {
		b = s.entry.append(b, 7)
	}
	b = wire.AppendUint(b, 8, uint64(ops))
	for _, c := range m.capabilities {
		b = c.append(b)
	}
	b = m.appendLimits(b)
	for _, p := range m.prefixes {
		b = wire.AppendElement(b, 11, p)
	}
	b = wire.AppendString(b, 12, sdkName)
	return wire.AppendString(b, 13, m.configSchema)
}

func (m *Manifest) appendLimits(b []byte) []byte {
	const page = 64 << 10
	if m.memory == 0 && m.deadline == 0 && m.maxBody == 0 && m.lifecycle == 0 {
		return b
	}
	b, at := wire.Begin(b, 10)
	b = wire.AppendUint(b, 1, (m.memory+page-1)/page)
	b = wire.AppendUint(b, 2, millis(m.deadline))
	b = wire.AppendUint(b, 3, m.maxBody)
	b = wire.AppendUint(b, 5, m.lifecycle)
	return wire.End(b, at)
}
