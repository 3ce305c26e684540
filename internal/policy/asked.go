package policy

import "github.com/wasmres/wasmres/internal/strict"

// Names of powers, as manifests call them.
const (
	PowerFS     = "fs"
	PowerHTTP   = "http"
	PowerSQL    = "sql"
	PowerKV     = "kv"
	PowerEnv    = "env"
	PowerSecret = "secret"
)

// Known reports whether there is a power of this name.
func Known(power string) bool { return askings[power] != nil }

// Asked gives what a manifest asks for by the name of a power and its parameters, a JSON object or nothing, in the
// words of policy files:
//
//	fs      paths, access, max_bytes and max_files of each
//	http    hosts, schemes, ports, methods, paths, private, secrets; or allow, a list of rules
//	sql     connections
//	kv      namespace, max_bytes, max_keys, max_value, read_only
//	env     keys
//	secret  names
//
// What the parameters leave open is open in the policy too. The error says what of them makes no sense; the policy is
// then that of no parameters.
func Asked(power, params string) (*Policy, error) {
	empty := askings[power]
	if empty == nil {
		return &Policy{}, strict.Problems{{File: power, Text: "there is no such power"}}
	}
	if params == "" {
		return empty().policy(), nil
	}
	a := empty()
	if err := format.Decode("parameters of "+power, []byte(params), a); err != nil {
		return empty().policy(), err
	}
	return a.policy(), nil
}

// An asking is what the parameters of one power say. Its policy is open where they say nothing.
type asking interface{ policy() *Policy }

// askings gives an empty asking for each power.
var askings = map[string]func() asking{
	PowerFS:     func() asking { return &fsAsking{} },
	PowerHTTP:   func() asking { return &httpAsking{} },
	PowerSQL:    func() asking { return &sqlAsking{} },
	PowerKV:     func() asking { return &kvAsking{} },
	PowerEnv:    func() asking { return &envAsking{} },
	PowerSecret: func() asking { return &secretAsking{} },
}

type fsAsking struct {
	Paths    []string `yaml:"paths" check:"guest path"`
	Access   Access   `yaml:"access,nonempty" check:"access"`
	MaxBytes uint64   `yaml:"max_bytes" check:"size"`
	MaxFiles uint64   `yaml:"max_files" check:"count"`
}

func (a *fsAsking) Validate() error { return checkGrowth(a.Access, a.MaxBytes, a.MaxFiles) }

func (a *fsAsking) policy() *Policy {
	p := &Policy{}
	for _, path := range orOpen(a.Paths) {
		p.Storage = append(p.Storage, Storage{Guest: path, Access: max(a.Access, Read), MaxBytes: a.MaxBytes, MaxFiles: a.MaxFiles})
	}
	return p
}

type httpAsking struct {
	Hosts   []string  `yaml:"hosts" check:"host"`
	Allow   []Network `yaml:"allow"`
	Schemes []string  `yaml:"schemes,nonempty" check:"scheme"`
	Ports   []uint16  `yaml:"ports,nonempty" check:"port"`
	Methods []string  `yaml:"methods,nonempty" check:"method"`
	Paths   []string  `yaml:"paths,nonempty" check:"path"`
	Private bool      `yaml:"private"`
	Secrets []string  `yaml:"secrets,nonempty" check:"name"`
}

func (a *httpAsking) policy() *Policy {
	p := &Policy{Network: a.Allow}
	if len(a.Allow) > 0 && len(a.Hosts) == 0 {
		return p
	}
	for _, host := range orOpen(a.Hosts) {
		p.Network = append(p.Network, Network{host, a.Schemes, a.Ports, a.Methods, a.Paths, a.Private, a.Secrets})
	}
	return p.clone()
}

type sqlAsking struct {
	Connections []string `yaml:"connections" check:"name"`
}

func (a *sqlAsking) policy() *Policy {
	p := &Policy{}
	for _, name := range orOpen(a.Connections) {
		p.SQL = append(p.SQL, SQL{Name: name})
	}
	return p
}

type kvAsking KV

func (a *kvAsking) policy() *Policy { return &Policy{KV: (*KV)(a)} }

type envAsking struct {
	Keys []string `yaml:"keys" check:"variable"`
}

func (a *envAsking) policy() *Policy { return &Policy{Environment: orOpen(a.Keys)} }

type secretAsking struct {
	Names []string `yaml:"names" check:"name"`
}

func (a *secretAsking) policy() *Policy {
	p := &Policy{}
	for _, name := range orOpen(a.Names) {
		p.Secrets = append(p.Secrets, Secret{Name: name})
	}
	return p
}

// orOpen gives names, or one that is left open where there are none.
func orOpen(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// Drop takes a power away from p.
func (p *Policy) Drop(power string) {
	switch power {
	case PowerFS:
		p.Storage = nil
	case PowerHTTP:
		p.Network = nil
	case PowerSQL:
		p.SQL = nil
	case PowerKV:
		p.KV = nil
	case PowerEnv:
		p.Environment = nil
	case PowerSecret:
		p.Secrets = nil
		for i := range p.Network {
			p.Network[i].Secrets = nil
		}
	}
}
