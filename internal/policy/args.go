package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Placeholders for values that only the operator knows. Flags and policy files refuse them as values.
const (
	PlaceholderFolder   = "FOLDER"
	PlaceholderPath     = "/PATH"
	PlaceholderHost     = "HOST"
	PlaceholderName     = "NAME"
	PlaceholderVariable = "VARIABLE"
)

// Flags returns p as flags, with placeholders for the values that p leaves open. complete reports whether the flags
// grant just what p does, which is not so for all policies.
func (p *Policy) Flags() (f Flags, complete bool) {
	sample := p.fill(sampleValues)
	again, err := FromFlags(sample.flags())
	return p.WithPlaceholders().flags(), err == nil && Covers(again, sample) && Covers(sample, again)
}

// flags returns p as flags. p may leave nothing open.
func (p *Policy) flags() (f Flags) {
	for _, s := range p.Storage {
		spec := s.Host + ":" + s.Guest
		if s.Access&Write != 0 {
			spec += ":rw"
		}
		f.Dir = append(f.Dir, spec)
	}
	for _, n := range p.Network {
		f.Net = append(f.Net, n.specs()...)
	}
	f.Env = p.Environment
	for _, s := range p.Secrets {
		f.Secret = append(f.Secret, s.Name+"="+source(s.Env, s.File, cmp.Or(prefixed("keyring:", s.Keyring), prefixed("sealed:", s.Sealed))))
	}
	for _, s := range p.SQL {
		f.SQL = append(f.SQL, s.Name+"="+source(s.DSNEnv, s.DSNFile, cmp.Or(prefixed("sealed:", s.DSNSealed), s.DSN)))
	}
	f.KV = p.KV != nil
	for _, k := range sortedKeys(p.Config) {
		f.Config = append(f.Config, k+"="+p.Config[k])
	}
	return f
}

// IsOpen reports whether p lacks a value that only the operator knows.
func (p *Policy) IsOpen() bool {
	one, other := p.WithPlaceholders().flags().named(), p.fill(sampleValues).flags().named()
	return !slices.EqualFunc(one, other, func(a, b namedFlag) bool { return slices.Equal(a.values, b.values) })
}

// placeholders are values for what a policy leaves open.
type placeholders struct{ folder, path, host, name, variable string }

// sampleValues are valid placeholders, for comparing a policy with its flags.
var sampleValues = placeholders{"folder", "/path", "host.example", "name", "variable"}

// checkPlaceholder refuses s if it is the placeholder, which the operator has not replaced.
func checkPlaceholder(s, placeholder string) error {
	if s == placeholder {
		return fmt.Errorf("%s is a placeholder: write your own value in its place", placeholder)
	}
	return nil
}

// WithPlaceholders returns a copy of p, in canonical order, with placeholders for the values it leaves open.
func (p *Policy) WithPlaceholders() *Policy {
	return p.fill(placeholders{PlaceholderFolder, PlaceholderPath, PlaceholderHost, PlaceholderName, PlaceholderVariable})
}

func (p *Policy) fill(with placeholders) *Policy {
	p = p.canonical()
	for i := range p.Storage {
		s := &p.Storage[i]
		s.Host, s.Guest = cmp.Or(s.Host, with.folder), cmp.Or(s.Guest, with.path)
	}
	for i := range p.Network {
		p.Network[i].Host = cmp.Or(p.Network[i].Host, with.host)
	}
	for i := range p.Environment {
		p.Environment[i] = cmp.Or(p.Environment[i], with.variable)
	}
	for i := range p.Secrets {
		s := &p.Secrets[i]
		s.Name = cmp.Or(s.Name, with.name)
		if s.Env == "" && s.File == "" && s.Keyring == "" && s.Sealed == "" {
			s.Env = with.variable
		}
	}
	for i := range p.SQL {
		s := &p.SQL[i]
		s.Name = cmp.Or(s.Name, "main")
		if !s.hasSource() {
			s.DSNEnv = with.variable
		}
	}
	return p
}

// Args returns f as arguments of a command.
func (f Flags) Args() (args []string) {
	for _, one := range f.named() {
		for _, v := range one.values {
			args = append(args, "--"+one.flag, v)
		}
	}
	if f.KV {
		args = append(args, "--kv")
	}
	return args
}

// maxSpecs bounds the flags that are made of one rule.
const maxSpecs = 16

// specs returns n as values of --net, each with one scheme, one port and one path.
func (n Network) specs() (specs []string) {
	methods := ""
	if len(n.Methods) > 0 && !slices.Equal(n.Methods, []string{"GET", "HEAD"}) {
		methods = strings.Join(n.Methods, ",") + ":"
	}
	host := n.Host
	if _, err := netip.ParseAddr(host); err == nil && strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	ports := []string{""}
	if len(n.Ports) > 0 {
		ports = ports[:0]
		for _, p := range n.Ports {
			ports = append(ports, ":"+strconv.Itoa(int(p)))
		}
	}
	paths := n.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, scheme := range n.effective().Schemes {
		for _, port := range ports {
			for _, path := range paths {
				specs = append(specs, methods+scheme+"://"+host+port+path)
			}
		}
	}
	return specs[:min(len(specs), maxSpecs)]
}

// source returns the source of a secret as a flag has it.
func source(env, file, other string) string {
	return cmp.Or(prefixed("env:", env), prefixed("file:", file), other)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
