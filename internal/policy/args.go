package policy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Words that stand for what only the operator knows. They are no values, of flags nor of policies.
const (
	StandInFolder   = "FOLDER"
	StandInPath     = "/PATH"
	StandInHost     = "HOST"
	StandInName     = "NAME"
	StandInVariable = "VARIABLE"
)

// Flags gives what p is as flags, in which stand-ins are in the place of what p leaves open, and whether they say all of
// it, and no more: a policy file can say more than flags.
func (p *Policy) Flags() (f Flags, whole bool) {
	trial := p.filled(trialWords)
	again, err := FromFlags(trial.flags())
	return p.Filled().flags(), err == nil && Covers(again, trial) && Covers(trial, again)
}

// flags gives what p is as flags. Nothing in p may be open.
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
		f.Secret = append(f.Secret, s.Name+"="+source(s.Env, s.File, prefixed("keyring:", s.Keyring)))
	}
	for _, s := range p.SQL {
		f.SQL = append(f.SQL, s.Name+"="+source(s.DSNEnv, s.DSNFile, s.DSN))
	}
	f.KV = p.KV != nil
	for _, k := range sortedKeys(p.Config) {
		f.Config = append(f.Config, k+"="+p.Config[k])
	}
	return f
}

// IsOpen reports whether p leaves something open that only the operator knows.
func (p *Policy) IsOpen() bool {
	one, other := p.Filled().flags().named(), p.filled(trialWords).flags().named()
	return !slices.EqualFunc(one, other, func(a, b namedFlag) bool { return slices.Equal(a.values, b.values) })
}

// standIns are the words for what a policy leaves open.
type standIns struct{ folder, path, host, name, variable string }

// trialWords are valid values, with which it can be tried what flags say.
var trialWords = standIns{"folder", "/path", "host.example", "name", "variable"}

// filledIn refuses a stand-in, which was copied without filling it in.
func filledIn(s, standIn string) error {
	if s == standIn {
		return fmt.Errorf("%s stands for what only you know: write that in its place", standIn)
	}
	return nil
}

// Filled gives p with stand-ins for what it leaves open.
func (p *Policy) Filled() *Policy {
	return p.filled(standIns{StandInFolder, StandInPath, StandInHost, StandInName, StandInVariable})
}

func (p *Policy) filled(words standIns) *Policy {
	p = p.canonical()
	for i := range p.Storage {
		s := &p.Storage[i]
		s.Host, s.Guest = cmp.Or(s.Host, words.folder), cmp.Or(s.Guest, words.path)
	}
	for i := range p.Network {
		p.Network[i].Host = cmp.Or(p.Network[i].Host, words.host)
	}
	for i := range p.Environment {
		p.Environment[i] = cmp.Or(p.Environment[i], words.variable)
	}
	for i := range p.Secrets {
		s := &p.Secrets[i]
		s.Name = cmp.Or(s.Name, words.name)
		if s.Env == "" && s.File == "" && s.Keyring == "" {
			s.Env = words.variable
		}
	}
	for i := range p.SQL {
		s := &p.SQL[i]
		s.Name = cmp.Or(s.Name, "main")
		if s.DSNEnv == "" && s.DSNFile == "" && s.DSN == "" {
			s.DSNEnv = words.variable
		}
	}
	return p
}

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
