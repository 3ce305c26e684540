package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Covers reports whether granted permits all that requested permits. A value that requested leaves open, as a host
// folder, matches any. It may report false where several rules of granted together cover one of requested. It does not
// compare configuration, which grants nothing, nor limits that requested does not set.
func Covers(granted, requested *Policy) bool {
	return all(requested.Storage, granted.coversStorage) &&
		all(requested.Network, granted.coversNetwork) &&
		all(requested.Environment, granted.coversVariable) &&
		all(requested.Secrets, granted.coversSecret) &&
		all(requested.SQL, granted.coversSQL) &&
		granted.coversKV(requested.KV) &&
		granted.Limits.cover(requested.Limits)
}

func all[T any](entries []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(entries, func(e T) bool { return !ok(e) })
}

func (p *Policy) coversStorage(requested Storage) bool {
	return slices.ContainsFunc(p.Storage, func(s Storage) bool { return s.covers(requested) })
}

func (s Storage) covers(requested Storage) bool {
	if requested.Access&^s.Access != 0 || requested.Access&Write != 0 && !s.coversGrowth(requested) {
		return false
	}
	if requested.Guest == "" {
		return true
	}
	below, ok := below(s.Guest, requested.Guest)
	return ok && (requested.Host == "" || requested.Host == path.Join(s.Host, below))
}

// coversGrowth compares how much may be added. Zero is the default; of a request that leaves it open, it matches any.
func (s Storage) coversGrowth(requested Storage) bool {
	answers := func(granted, requested, byDefault uint64, open bool) bool {
		return open && requested == 0 || cmp.Or(requested, byDefault) <= cmp.Or(granted, byDefault)
	}
	open := requested.Host == "" && s.Host != ""
	return answers(s.MaxBytes, requested.MaxBytes, DefaultMaxBytes, open) &&
		answers(s.MaxFiles, requested.MaxFiles, DefaultMaxFiles, open)
}

// below returns the rest of a path that is folder, or below it.
func below(folder, name string) (string, bool) {
	if folder == "/" {
		return name, path.IsAbs(name)
	}
	rest, ok := strings.CutPrefix(name, folder)
	return rest, ok && folder != "" && (rest == "" || rest[0] == '/')
}

func (p *Policy) coversNetwork(requested Network) bool {
	return all(requested.split(), func(part Network) bool {
		return slices.ContainsFunc(p.Network, func(n Network) bool { return n.covers(part) })
	})
}

// maxParts bounds the parts of one rule.
const maxParts = 256

// split returns rules with one scheme, port and path each that together permit what n does. It returns n itself instead
// of more than maxParts.
func (n Network) split() (parts []Network) {
	e := n.effective()
	if len(e.Schemes)*len(e.Ports)*len(e.Paths) > maxParts {
		return []Network{n}
	}
	for _, scheme := range e.Schemes {
		ports := n.Ports
		if len(ports) == 0 {
			ports = []uint16{defaultPorts[scheme]}
		}
		for _, port := range ports {
			for _, path := range e.Paths {
				part := e
				part.Schemes, part.Ports, part.Paths = []string{scheme}, []uint16{port}, []string{path}
				parts = append(parts, part)
			}
		}
	}
	return parts
}

func (n Network) covers(requested Network) bool {
	if requested.Host == "" {
		return n.coversUses(requested)
	}
	return coversHost(n.Host, requested.Host) && n.coversUses(requested)
}

// coversUses compares everything but the hosts.
func (n Network) coversUses(requested Network) bool {
	n, requested = n.effective(), requested.effective()
	return contains(n.Schemes, requested.Schemes) && contains(n.Ports, requested.Ports) && contains(n.Methods, requested.Methods) &&
		contains(n.Secrets, requested.Secrets) && (n.Private || !requested.Private) &&
		all(requested.Paths, func(p string) bool {
			return slices.ContainsFunc(n.Paths, func(pattern string) bool { return coversPath(pattern, p) })
		})
}

// effective returns n with the defaults in place of empty lists. The default ports are those of the schemes.
func (n Network) effective() Network {
	if len(n.Schemes) == 0 {
		n.Schemes = []string{"https"}
	}
	if len(n.Methods) == 0 {
		n.Methods = []string{"GET", "HEAD"}
	}
	if len(n.Paths) == 0 {
		n.Paths = []string{"/"}
	}
	if len(n.Ports) == 0 {
		for _, s := range n.Schemes {
			n.Ports = append(n.Ports, defaultPorts[s])
		}
	}
	return n
}

var defaultPorts = map[string]uint16{"https": 443, "http": 80}

func contains[T comparable](granted, requested []T) bool {
	return all(requested, func(v T) bool { return slices.Contains(granted, v) })
}

func coversHost(granted, requested string) bool {
	if granted == requested {
		return true
	}
	suffix, wild := strings.CutPrefix(granted, "*")
	return wild && strings.HasSuffix(strings.TrimPrefix(requested, "*"), suffix)
}

// coversPath compares patterns segment by segment. One without a star stands for itself and all below it.
func coversPath(granted, requested string) bool {
	if granted == requested {
		return true
	}
	if !strings.Contains(granted, "*") {
		return strings.HasPrefix(requested, strings.TrimSuffix(granted, "/")+"/")
	}
	g, a := strings.Split(granted, "/"), strings.Split(requested, "/")
	for i, segment := range g {
		switch {
		case segment == "**":
			return i < len(a) // what is below begins with a segment
		case i >= len(a) || a[i] == "**":
			return false
		case segment != a[i] && (segment != "*" || a[i] == ""):
			return false
		}
	}
	return len(g) == len(a) && strings.Contains(requested, "*")
}

func (p *Policy) coversVariable(requested string) bool {
	return slices.Contains(p.Environment, requested) || requested == "" && len(p.Environment) > 0
}

func (p *Policy) coversSecret(requested Secret) bool {
	if requested == (Secret{}) {
		return len(p.Secrets) > 0
	}
	return slices.ContainsFunc(p.Secrets, func(s Secret) bool {
		return s == requested || s.Name == requested.Name && requested == Secret{Name: requested.Name}
	})
}

func (p *Policy) coversSQL(requested SQL) bool {
	if requested == (SQL{}) {
		return len(p.SQL) > 0
	}
	return slices.ContainsFunc(p.SQL, func(s SQL) bool { return s.covers(requested) })
}

// hasSource reports whether it is known where the data source name is.
func (s SQL) hasSource() bool { return s.DSN+s.DSNEnv+s.DSNFile+s.DSNSealed != "" }

func (s SQL) covers(requested SQL) bool {
	sameSource := !requested.hasSource() ||
		requested.DSN == s.DSN && requested.DSNEnv == s.DSNEnv && requested.DSNFile == s.DSNFile && requested.DSNSealed == s.DSNSealed
	return s.Name == requested.Name && sameSource && (s.Privileged || !requested.Privileged) && (s.Private || !requested.Private) && within(requested.Timeout, s.Timeout) &&
		within(requested.MaxRows, s.MaxRows) && within(requested.MaxBytes, s.MaxBytes)
}

func (p *Policy) coversKV(requested *KV) bool {
	if requested == nil {
		return true
	}
	kv := p.KV
	return kv != nil && (requested.Namespace == "" || requested.Namespace == kv.Namespace) &&
		within(requested.MaxBytes, kv.MaxBytes) && within(requested.MaxKeys, kv.MaxKeys) &&
		within(requested.MaxValue, kv.MaxValue) && (requested.ReadOnly || !kv.ReadOnly)
}

func (l Limits) cover(requested Limits) bool {
	return within(requested.MilliCPU, l.MilliCPU) && within(requested.Memory, l.Memory) && within(requested.Fuel, l.Fuel) &&
		within(requested.Timeout, l.Timeout) && within(requested.Output, l.Output) && within(requested.Stack, l.Stack) &&
		within(requested.Log, l.Log)
}

// within reports whether a requested bound is at most the granted one. A requested zero is always within; a granted
// zero is the host's default, which is unknown here, and covers no other.
func within[T ~int64 | ~uint64 | ~uint32](requested, granted T) bool { return requested <= granted }
