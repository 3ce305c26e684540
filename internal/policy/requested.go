package policy

import "github.com/wasmres/wasmres/internal/strict"

// Names of capabilities in manifests.
const (
	CapabilityFS     = "fs"
	CapabilityHTTP   = "http"
	CapabilitySQL    = "sql"
	CapabilityKV     = "kv"
	CapabilityEnv    = "env"
	CapabilitySecret = "secret"
)

// Known reports whether there is a capability of this name.
func Known(capability string) bool { return requests[capability] != nil }

// Requested returns the policy that a manifest requests by the name of a capability and its parameters, a JSON object
// or nothing, with the keys of policy files:
//
//	fs      paths, access, max_bytes and max_files of each
//	http    hosts, schemes, ports, methods, paths, private, secrets; or allow, a list of rules
//	sql     connections
//	kv      namespace, max_bytes, max_keys, max_value, read_only
//	env     keys
//	secret  names
//
// The policy leaves open what the parameters do. The error names the parameters that are invalid; the policy is then
// that of no parameters.
func Requested(capability, params string) (*Policy, error) {
	empty := requests[capability]
	if empty == nil {
		return &Policy{}, strict.Problems{{File: capability, Text: "there is no such capability"}}
	}
	if params == "" {
		return empty().policy(), nil
	}
	r := empty()
	if err := format.Decode("parameters of "+capability, []byte(params), r); err != nil {
		return empty().policy(), err
	}
	return r.policy(), nil
}

// A request is the parameters of one capability. Its policy leaves open what they leave out.
type request interface{ policy() *Policy }

// requests gives an empty request for each capability.
var requests = map[string]func() request{
	CapabilityFS:     func() request { return &fsRequest{} },
	CapabilityHTTP:   func() request { return &httpRequest{} },
	CapabilitySQL:    func() request { return &sqlRequest{} },
	CapabilityKV:     func() request { return &kvRequest{} },
	CapabilityEnv:    func() request { return &envRequest{} },
	CapabilitySecret: func() request { return &secretRequest{} },
}

type fsRequest struct {
	Paths    []string `yaml:"paths" check:"guest path"`
	Access   Access   `yaml:"access,nonempty" check:"access"`
	MaxBytes uint64   `yaml:"max_bytes" check:"size"`
	MaxFiles uint64   `yaml:"max_files" check:"count"`
}

func (r *fsRequest) Validate() error { return checkGrowth(r.Access, r.MaxBytes, r.MaxFiles) }

func (r *fsRequest) policy() *Policy {
	p := &Policy{}
	for _, path := range orOpen(r.Paths) {
		p.Storage = append(p.Storage, Storage{Guest: path, Access: max(r.Access, Read), MaxBytes: r.MaxBytes, MaxFiles: r.MaxFiles})
	}
	return p
}

type httpRequest struct {
	Hosts   []string  `yaml:"hosts" check:"host"`
	Allow   []Network `yaml:"allow"`
	Schemes []string  `yaml:"schemes,nonempty" check:"scheme"`
	Ports   []uint16  `yaml:"ports,nonempty" check:"port"`
	Methods []string  `yaml:"methods,nonempty" check:"method"`
	Paths   []string  `yaml:"paths,nonempty" check:"path"`
	Private bool      `yaml:"private"`
	Secrets []string  `yaml:"secrets,nonempty" check:"name"`
}

func (r *httpRequest) policy() *Policy {
	p := &Policy{Network: r.Allow}
	if len(r.Allow) > 0 && len(r.Hosts) == 0 {
		return p
	}
	for _, host := range orOpen(r.Hosts) {
		p.Network = append(p.Network, Network{host, r.Schemes, r.Ports, r.Methods, r.Paths, r.Private, r.Secrets})
	}
	return p.clone()
}

type sqlRequest struct {
	Connections []string `yaml:"connections" check:"name"`
}

func (r *sqlRequest) policy() *Policy {
	p := &Policy{}
	for _, name := range orOpen(r.Connections) {
		p.SQL = append(p.SQL, SQL{Name: name})
	}
	return p
}

type kvRequest KV

func (r *kvRequest) policy() *Policy { return &Policy{KV: (*KV)(r)} }

type envRequest struct {
	Keys []string `yaml:"keys" check:"variable"`
}

func (r *envRequest) policy() *Policy { return &Policy{Environment: orOpen(r.Keys)} }

type secretRequest struct {
	Names []string `yaml:"names" check:"name"`
}

func (r *secretRequest) policy() *Policy {
	p := &Policy{}
	for _, name := range orOpen(r.Names) {
		p.Secrets = append(p.Secrets, Secret{Name: name})
	}
	return p
}

// orOpen returns names, or an open one where there are none.
func orOpen(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// Drop removes the grants of a capability from p.
func (p *Policy) Drop(capability string) {
	switch capability {
	case CapabilityFS:
		p.Storage = nil
	case CapabilityHTTP:
		p.Network = nil
	case CapabilitySQL:
		p.SQL = nil
	case CapabilityKV:
		p.KV = nil
	case CapabilityEnv:
		p.Environment = nil
	case CapabilitySecret:
		p.Secrets = nil
		for i := range p.Network {
			p.Network[i].Secrets = nil
		}
	}
}
