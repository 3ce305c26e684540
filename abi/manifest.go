package abi

// A Manifest is what a provider declares. The host reads it from [ManifestSection] without running the guest, or asks
// the guest once with [OpDescribe].
type Manifest struct {
	Minor        uint32 // the least Minor of a host that can run the provider
	Name         string
	Version      string
	Title        string
	Description  string
	Templates    []Template
	Resources    []Resource // static: listed without running the guest
	Ops          uint32     // bit n is set when operation n is implemented
	Capabilities []Capability
	Limits       ManifestLimits
	URIPrefixes  []string // the guest may name no other URIs; empty for any
	SDK          string
	ConfigSchema string // JSON Schema; empty for none
}

// Implements reports whether the manifest declares op.
func (m *Manifest) Implements(op Op) bool { return op < 32 && m.Ops&(1<<op) != 0 }

// A Capability is a host capability that a provider asks for.
type Capability struct {
	Name     string // "fs", "http", …
	Params   string // JSON object; empty for none
	Optional bool
	Reason   string // shown to the person who decides
}

// ManifestLimits are the limits that a provider asks for. Zero asks for none. The operator's limits bound them.
type ManifestLimits struct {
	MemoryPages    uint32 // of 64 KiB
	DeadlineMillis uint32
	MaxBody        uint64 // bytes
	MaxInstances   uint32
	Lifecycle      Lifecycle
}

// A Lifecycle says how long guest memory lasts.
type Lifecycle uint32

// The lifecycles. A guest that asks for an unknown one gets LifecycleFresh.
const (
	LifecycleFresh   Lifecycle = 0 // every request finds the memory of a guest that has just started
	LifecycleSession Lifecycle = 1 // a request finds what earlier requests of its session left
	LifecycleShared  Lifecycle = 2 // a request finds what earlier requests of all clients left, as a cache
)

var lifecycleNames = [...]string{"fresh", "session", "shared"}

func (l Lifecycle) String() string {
	if l < Lifecycle(len(lifecycleNames)) {
		return lifecycleNames[l]
	}
	return "unknown"
}

// Bounds of a Manifest.
const (
	MaxManifest        = 1 << 20 // encoded bytes
	maxStaticResources = 10_000
	maxTemplates       = 256
	maxCapabilities    = 64
	maxURIPrefixes     = 64
)

// Append appends the encoding of m to b.
func (m *Manifest) Append(b []byte) []byte {
	b = putUint(b, 1, uint64(m.Minor))
	b = putString(b, 2, m.Name)
	b = putString(b, 3, m.Version)
	b = putString(b, 4, m.Title)
	b = putString(b, 5, m.Description)
	for i := range m.Templates {
		b = putMessage(b, 6, m.Templates[i].append)
	}
	for i := range m.Resources {
		b = putMessage(b, 7, m.Resources[i].append)
	}
	b = putUint(b, 8, uint64(m.Ops))
	for i := range m.Capabilities {
		b = putMessage(b, 9, m.Capabilities[i].append)
	}
	if m.Limits != (ManifestLimits{}) {
		b = putMessage(b, 10, m.Limits.append)
	}
	b = putStrings(b, 11, m.URIPrefixes)
	b = putString(b, 12, m.SDK)
	return putString(b, 13, m.ConfigSchema)
}

// DecodeManifest decodes a Manifest of at most [MaxManifest] bytes and checks it as [Manifest.Check] does.
func DecodeManifest(b []byte) (*Manifest, error) {
	if len(b) > MaxManifest {
		return nil, tooLong("manifest", len(b), MaxManifest)
	}
	m := &Manifest{}
	if err := decode(b, m.set); err != nil {
		return nil, asProtocol("manifest", err)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Manifest) set(f *field) error {
	switch f.num {
	case 1:
		return f.uint32(&m.Minor)
	case 2:
		return f.string(&m.Name)
	case 3:
		return f.string(&m.Version)
	case 4:
		return f.string(&m.Title)
	case 5:
		return f.string(&m.Description)
	case 6:
		return addTemplate(&m.Templates, maxTemplates, f)
	case 7:
		return addResource(&m.Resources, maxStaticResources, f)
	case 8:
		return f.uint32(&m.Ops)
	case 9:
		c, err := grow(&m.Capabilities, "capabilities", maxCapabilities)
		if err != nil {
			return err
		}
		return f.message(c.set)
	case 10:
		m.Limits = ManifestLimits{}
		return f.message(m.Limits.set)
	case 11:
		return f.strings(&m.URIPrefixes, "URI prefixes", maxURIPrefixes)
	case 12:
		return f.string(&m.SDK)
	case 13:
		return f.string(&m.ConfigSchema)
	}
	return nil
}

func (c *Capability) append(b []byte) []byte {
	b = putString(b, 1, c.Name)
	b = putString(b, 2, c.Params)
	b = putBool(b, 3, c.Optional)
	return putString(b, 4, c.Reason)
}

func (c *Capability) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&c.Name)
	case 2:
		return f.string(&c.Params)
	case 3:
		return f.bool(&c.Optional)
	case 4:
		return f.string(&c.Reason)
	}
	return nil
}

func (l *ManifestLimits) append(b []byte) []byte {
	b = putUint(b, 1, uint64(l.MemoryPages))
	b = putUint(b, 2, uint64(l.DeadlineMillis))
	b = putUint(b, 3, l.MaxBody)
	b = putUint(b, 4, uint64(l.MaxInstances))
	return putUint(b, 5, uint64(l.Lifecycle))
}

func (l *ManifestLimits) set(f *field) error {
	switch f.num {
	case 1:
		return f.uint32(&l.MemoryPages)
	case 2:
		return f.uint32(&l.DeadlineMillis)
	case 3:
		return f.uint64(&l.MaxBody)
	case 4:
		return f.uint32(&l.MaxInstances)
	case 5:
		return f.uint32((*uint32)(&l.Lifecycle))
	}
	return nil
}
