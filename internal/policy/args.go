package policy

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Flags gives what p is as flags, in which FOLDER, VARIABLE and the like stand for what p leaves open, and whether they
// say all of it, and no more: a policy file can say more than flags.
func (p *Policy) Flags() (f Flags, whole bool) {
	p = p.Filled()
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
		f.Secret = append(f.Secret, s.Name+"="+source(s.Env, s.File, prefixed("keyring:", s.Keyring)))
	}
	for _, s := range p.SQL {
		f.SQL = append(f.SQL, s.Name+"="+source(s.DSNEnv, s.DSNFile, s.DSN))
	}
	f.KV = p.KV != nil
	for _, k := range sortedKeys(p.Config) {
		f.Config = append(f.Config, k+"="+p.Config[k])
	}
	again, err := FromFlags(f)
	return f, err == nil && Covers(again, p) && Covers(p, again)
}

// Filled gives p with FOLDER, VARIABLE and the like for what it leaves open.
func (p *Policy) Filled() *Policy {
	p = p.canonical()
	for i := range p.Storage {
		s := &p.Storage[i]
		s.Host, s.Guest = cmp.Or(s.Host, "FOLDER"), cmp.Or(s.Guest, "/path")
	}
	for i := range p.Network {
		p.Network[i].Host = cmp.Or(p.Network[i].Host, openHost)
	}
	for i := range p.Environment {
		p.Environment[i] = cmp.Or(p.Environment[i], "NAME")
	}
	for i := range p.Secrets {
		s := &p.Secrets[i]
		s.Name = cmp.Or(s.Name, "NAME")
		if s.Env == "" && s.File == "" && s.Keyring == "" {
			s.Env = "VARIABLE"
		}
	}
	for i := range p.SQL {
		s := &p.SQL[i]
		s.Name = cmp.Or(s.Name, "main")
		if s.DSNEnv == "" && s.DSNFile == "" && s.DSN == "" {
			s.DSNEnv = "VARIABLE"
		}
	}
	return p
}

const openHost = "host.example"

// Args gives f as arguments of a command.
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

// maxSpecs bounds the flags one rule becomes.
const maxSpecs = 16

// specs gives n as values of --net: each names one scheme, one port and one path.
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

// source gives where a secret is, as flags say it.
func source(env, file, other string) string {
	return cmp.Or(prefixed("env:", env), prefixed("file:", file), other)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
