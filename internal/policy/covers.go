package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Covers reports whether all that asked permits, or asks for, granted permits too. What asked leaves open, as the
// folder of the host, any grant answers. It may say no where only several rules together would do. Configuration is no
// power and is not compared; of limits, those that asked names are.
func Covers(granted, asked *Policy) bool {
	return all(asked.Storage, granted.coversStorage) &&
		all(asked.Network, granted.coversNetwork) &&
		all(asked.Environment, granted.coversVariable) &&
		all(asked.Secrets, granted.coversSecret) &&
		all(asked.SQL, granted.coversSQL) &&
		granted.coversKV(asked.KV) &&
		granted.Limits.cover(asked.Limits)
}

func all[T any](entries []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(entries, func(e T) bool { return !ok(e) })
}

func (p *Policy) coversStorage(asked Storage) bool {
	return slices.ContainsFunc(p.Storage, func(s Storage) bool { return s.covers(asked) })
}

func (s Storage) covers(asked Storage) bool {
	if asked.Access&^s.Access != 0 || asked.Access&Write != 0 && !s.coversGrowth(asked) {
		return false
	}
	if asked.Guest == "" {
		return true
	}
	below, ok := below(s.Guest, asked.Guest)
	return ok && (asked.Host == "" || asked.Host == path.Join(s.Host, below))
}

// coversGrowth compares how much may be added. What an asking leaves open, any grant answers; otherwise what is not
// said is the default.
func (s Storage) coversGrowth(asked Storage) bool {
	answers := func(granted, asked, byDefault uint64, open bool) bool {
		return open && asked == 0 || cmp.Or(asked, byDefault) <= cmp.Or(granted, byDefault)
	}
	open := asked.Host == "" && s.Host != ""
	return answers(s.MaxBytes, asked.MaxBytes, DefaultMaxBytes, open) &&
		answers(s.MaxFiles, asked.MaxFiles, DefaultMaxFiles, open)
}

// below gives what of a path is behind a folder that it is, or is in.
func below(folder, name string) (string, bool) {
	if folder == "/" {
		return name, path.IsAbs(name)
	}
	rest, ok := strings.CutPrefix(name, folder)
	return rest, ok && folder != "" && (rest == "" || rest[0] == '/')
}

func (p *Policy) coversNetwork(asked Network) bool {
	return all(asked.split(), func(part Network) bool {
		return slices.ContainsFunc(p.Network, func(n Network) bool { return n.covers(part) })
	})
}

// maxParts bounds what one rule is split into.
const maxParts = 256

// split gives rules of one scheme, port and path each, which permit together what n does; n itself when there would be
// too many.
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

func (n Network) covers(asked Network) bool {
	if asked.Host == "" {
		return n.coversUses(asked)
	}
	return coversHost(n.Host, asked.Host) && n.coversUses(asked)
}

// coversUses compares all but the hosts.
func (n Network) coversUses(asked Network) bool {
	n, asked = n.effective(), asked.effective()
	return contains(n.Schemes, asked.Schemes) && contains(n.Ports, asked.Ports) && contains(n.Methods, asked.Methods) &&
		contains(n.Secrets, asked.Secrets) && (n.Private || !asked.Private) &&
		all(asked.Paths, func(p string) bool {
			return slices.ContainsFunc(n.Paths, func(pattern string) bool { return coversPath(pattern, p) })
		})
}

// effective gives n with what empty lists stand for. Ports become those of the schemes.
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

func contains[T comparable](granted, asked []T) bool {
	return all(asked, func(v T) bool { return slices.Contains(granted, v) })
}

func coversHost(granted, asked string) bool {
	if granted == asked {
		return true
	}
	suffix, wild := strings.CutPrefix(granted, "*")
	return wild && strings.HasSuffix(strings.TrimPrefix(asked, "*"), suffix)
}

// coversPath compares patterns segment by segment. One without a star stands for itself and all below it.
func coversPath(granted, asked string) bool {
	if granted == asked {
		return true
	}
	if !strings.Contains(granted, "*") {
		return strings.HasPrefix(asked, strings.TrimSuffix(granted, "/")+"/")
	}
	g, a := strings.Split(granted, "/"), strings.Split(asked, "/")
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
	return len(g) == len(a) && strings.Contains(asked, "*")
}

func (p *Policy) coversVariable(asked string) bool {
	return slices.Contains(p.Environment, asked) || asked == "" && len(p.Environment) > 0
}

func (p *Policy) coversSecret(asked Secret) bool {
	if asked == (Secret{}) {
		return len(p.Secrets) > 0
	}
	return slices.ContainsFunc(p.Secrets, func(s Secret) bool {
		return s == asked || s.Name == asked.Name && asked == Secret{Name: asked.Name}
	})
}

func (p *Policy) coversSQL(asked SQL) bool {
	if asked == (SQL{}) {
		return len(p.SQL) > 0
	}
	return slices.ContainsFunc(p.SQL, func(s SQL) bool { return s.covers(asked) })
}

func (s SQL) covers(asked SQL) bool {
	sameSource := asked.DSN == "" && asked.DSNEnv == "" && asked.DSNFile == "" ||
		asked.DSN == s.DSN && asked.DSNEnv == s.DSNEnv && asked.DSNFile == s.DSNFile
	return s.Name == asked.Name && sameSource && (s.Privileged || !asked.Privileged) && within(asked.Timeout, s.Timeout) &&
		within(asked.MaxRows, s.MaxRows) && within(asked.MaxBytes, s.MaxBytes)
}

func (p *Policy) coversKV(asked *KV) bool {
	if asked == nil {
		return true
	}
	kv := p.KV
	return kv != nil && (asked.Namespace == "" || asked.Namespace == kv.Namespace) &&
		within(asked.MaxBytes, kv.MaxBytes) && within(asked.MaxKeys, kv.MaxKeys) &&
		within(asked.MaxValue, kv.MaxValue) && (asked.ReadOnly || !kv.ReadOnly)
}

func (l Limits) cover(asked Limits) bool {
	return within(asked.MilliCPU, l.MilliCPU) && within(asked.Memory, l.Memory) && within(asked.Fuel, l.Fuel) &&
		within(asked.Timeout, l.Timeout) && within(asked.Output, l.Output) && within(asked.Stack, l.Stack) &&
		within(asked.Log, l.Log)
}

// within reports whether a bound that is asked for is no more than the granted one. Zero asks for nothing particular;
// whether the host's default is enough is not known here, so that it is not.
func within[T ~int64 | ~uint64 | ~uint32](asked, granted T) bool { return asked <= granted }
