package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/strict"
)

// Flags are a policy as a command line has it: the values of each flag.
type Flags struct {
	Dir    []string // HOST:GUEST[:ro|:rw]
	Net    []string // [METHOD,…:]URL, as https://api.example.org/v1/** or just the host
	Env    []string // KEY
	Secret []string // NAME=env:VARIABLE, NAME=file:PATH or NAME=keyring:SERVICE/USER
	SQL    []string // NAME=env:VARIABLE, NAME=file:PATH or NAME=DSN
	KV     bool
	Config []string // KEY=VALUE
}

// FromFlags returns the policy that flags are short for. Errors name the flag.
//
// The one rule of Net carries all secrets. With several rules, only a policy file can say which one carries a secret.
func FromFlags(f Flags) (*Policy, error) {
	p := &Policy{}
	for _, one := range f.named() {
		for _, v := range one.values {
			if err := Add(p, one.flag, v); err != nil {
				return nil, err
			}
		}
	}
	if f.KV {
		p.KV = &KV{}
	}
	return p, p.shareSecrets()
}

type namedFlag struct {
	flag   string
	values []string
}

func (f Flags) named() []namedFlag {
	return []namedFlag{
		{"dir", f.Dir}, {"net", f.Net}, {"env", f.Env}, {"secret", f.Secret}, {"sql", f.SQL}, {"config", f.Config},
	}
}

var adders = map[string]func(p *Policy, value string) error{
	"dir": addDir, "net": addNet, "env": addEnv, "secret": addSecret, "sql": addSQL, "config": addConfig,
}

// Add adds the grant of one flag with a value to p. The error names both; p is then unchanged.
func Add(p *Policy, flag, value string) error {
	add, ok := adders[flag]
	if !ok {
		return fmt.Errorf("--%s grants nothing", flag)
	}
	more := p.clone()
	if err := add(more, value); err != nil {
		return fmt.Errorf("--%s %s: %w", flag, withoutPassword(flag, value), err)
	}
	*p = *more
	return nil
}

// withoutPassword returns the value of a flag without what may be a secret.
func withoutPassword(flag, value string) string {
	if name, _, ok := strings.Cut(value, "="); ok && (flag == "sql" || flag == "secret") {
		return name + "=…"
	}
	return value
}

// shareSecrets lets the one network rule carry all secrets.
func (p *Policy) shareSecrets() error {
	if len(p.Secrets) == 0 {
		return nil
	}
	if len(p.Network) != 1 {
		return fmt.Errorf("--secret %s: with %d --net flags, it is unclear which server gets it: "+
			"write a policy file, and give it with --policy", p.Secrets[0].Name, len(p.Network))
	}
	for _, s := range p.Secrets {
		p.Network[0].Secrets = append(p.Network[0].Secrets, s.Name)
	}
	return nil
}

func addDir(p *Policy, spec string) error {
	rest, access := spec, Read
	if r, ok := strings.CutSuffix(rest, ":ro"); ok {
		rest = r
	} else if r, ok := strings.CutSuffix(rest, ":rw"); ok {
		rest, access = r, Read|Write
	}
	at := strings.LastIndex(rest, ":")
	if at <= 0 || !strings.HasPrefix(rest[at+1:], "/") {
		return errors.New("write it as HOST:GUEST, as in --dir .:/project")
	}
	host, err := storageURI(storageScheme + rest[:at])
	if err != nil {
		return err
	}
	guest, err := guestPath(rest[at+1:])
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Storage, func(s Storage) bool { return s.Guest == guest }) {
		return fmt.Errorf("%s is granted twice", guest)
	}
	p.Storage = append(p.Storage, Storage{Host: host, Guest: guest, Access: access})
	return nil
}

func addNet(p *Policy, spec string) error {
	n := Network{}
	rest := spec
	if head, tail, ok := strings.Cut(spec, ":"); ok && head != "" && !strings.ContainsFunc(head, notMethods) {
		rest = tail
		for m := range strings.SplitSeq(head, ",") {
			m, err := strict.Word("method", m, methods)
			if err != nil {
				return err
			}
			n.Methods = append(n.Methods, m)
		}
	}
	if scheme, tail, ok := strings.Cut(rest, "://"); ok {
		scheme, err := strict.Word("scheme", scheme, schemes)
		if err != nil {
			return err
		}
		n.Schemes, rest = []string{scheme}, tail
	}
	authority, pathOf := rest, ""
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		authority, pathOf = rest[:slash], rest[slash:]
	}
	if pathOf != "" && pathOf != "/" {
		pattern, err := pathPattern(pathOf)
		if err != nil {
			return err
		}
		n.Paths = []string{pattern}
	}
	if err := n.setAuthority(authority); err != nil {
		return err
	}
	p.Network = append(p.Network, n)
	return nil
}

func notMethods(r rune) bool { return (r < 'A' || r > 'Z') && r != ',' }

// setAuthority sets the host and the port, which authority may lack.
func (n *Network) setAuthority(authority string) (err error) {
	bare := authority
	if !strings.HasSuffix(authority, "]") {
		if at := strings.LastIndexByte(authority, ':'); at >= 0 {
			number, err := port(authority[at+1:])
			if err != nil {
				return err
			}
			bare, n.Ports = authority[:at], []uint16{number}
		}
	}
	n.Host, err = host(bare)
	n.Private = n.Host == "localhost" || privateAddress(n.Host) // the operator named it on purpose
	return err
}

func privateAddress(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast())
}

func addEnv(p *Policy, key string) error {
	key, err := variable(key)
	if err == nil && !slices.Contains(p.Environment, key) {
		p.Environment = append(p.Environment, key)
	}
	return err
}

func addSecret(p *Policy, spec string) error {
	label, source, _ := strings.Cut(spec, "=")
	s := Secret{}
	var err error
	if s.Name, err = name(label); err != nil {
		return err
	}
	kind, where, _ := strings.Cut(source, ":")
	switch kind {
	case "env":
		s.Env, err = variable(where)
	case "file":
		s.File, err = HostPath(where)
	case "keyring":
		s.Keyring, err = keyring(where)
	default:
		err = errors.New("write it as NAME=env:VARIABLE, NAME=file:PATH or NAME=keyring:SERVICE/USER; " +
			"the secret itself has no place on a command line")
	}
	if err == nil && slices.ContainsFunc(p.Secrets, func(o Secret) bool { return o.Name == s.Name }) {
		err = fmt.Errorf("the secret %s is granted twice", s.Name)
	}
	p.Secrets = append(p.Secrets, s)
	return err
}

func addSQL(p *Policy, spec string) error {
	label, source, ok := strings.Cut(spec, "=")
	if !ok {
		return errors.New("write it as NAME=env:VARIABLE, NAME=file:PATH or NAME=DSN")
	}
	s := SQL{}
	var err error
	if s.Name, err = name(label); err != nil {
		return err
	}
	kind, where, _ := strings.Cut(source, ":")
	switch {
	case kind == "env":
		s.DSNEnv, err = variable(where)
	case kind == "file" && !strings.ContainsAny(where, "?"):
		s.DSNFile, err = HostPath(where)
	default:
		s.DSN, err = openDSN(source)
	}
	if err == nil && slices.ContainsFunc(p.SQL, func(o SQL) bool { return o.Name == s.Name }) {
		err = fmt.Errorf("the connection %s is granted twice", s.Name)
	}
	p.SQL = append(p.SQL, s)
	return err
}

func addConfig(p *Policy, spec string) error {
	k, v, ok := strings.Cut(spec, "=")
	if !ok || k == "" {
		return errors.New("write it as KEY=VALUE")
	}
	if _, err := value(v); err != nil {
		return err
	}
	if p.Config == nil {
		p.Config = map[string]string{}
	}
	p.Config[k] = v
	return nil
}
