package policy

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
func Known(power string) bool { _, ok := askForms[power]; return ok }

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
	ask, ok := askForms[power]
	if !ok {
		return &Policy{}, Problems{{File: power, Text: "there is no such power"}}
	}
	open := asking{}.policy(power)
	if params == "" {
		return open, nil
	}
	r := &reader{file: "parameters of " + power}
	root, ok := r.tree([]byte(params))
	if !ok {
		return open, r.problems
	}
	var a asking
	if ask.read(r, root, &a); len(r.problems) > 0 {
		return open, r.problems
	}
	return a.policy(power), nil
}

// An asking is what parameters say, whatever the power.
type asking struct {
	names  []string // paths, hosts, connections, keys or names
	folder Storage  // but for its path
	rule   Network  // but for its host
	rules  []Network
	kv     KV
}

var askForms = map[string]form[asking]{
	PowerFS: checked(record(
		asked("paths", guestPath),
		key("access", "", accessForm, func(a *asking) *Access { return &a.folder.Access }),
		key("max_bytes", "", sizeForm, func(a *asking) *uint64 { return &a.folder.MaxBytes }),
		key("max_files", "", countForm, func(a *asking) *uint64 { return &a.folder.MaxFiles }),
	), func(a asking) string { return growsByWriting(a.folder) }),
	PowerHTTP: record(
		asked("hosts", host),
		key("allow", "", list(networkForm), func(a *asking) *[]Network { return &a.rules }),
		key("schemes", "", schemesForm, func(a *asking) *[]string { return &a.rule.Schemes }),
		key("ports", "", portsForm, func(a *asking) *[]uint16 { return &a.rule.Ports }),
		key("methods", "", methodsForm, func(a *asking) *[]string { return &a.rule.Methods }),
		key("paths", "", pathsForm, func(a *asking) *[]string { return &a.rule.Paths }),
		key("private", "", flag, func(a *asking) *bool { return &a.rule.Private }),
		key("secrets", "", namesForm, func(a *asking) *[]string { return &a.rule.Secrets }),
	),
	PowerSQL:    record(asked("connections", name)),
	PowerKV:     inside(kvForm, func(a *asking) *KV { return &a.kv }),
	PowerEnv:    record(asked("keys", variable)),
	PowerSecret: record(asked("names", name)),
}

// inside is a form of a part.
func inside[S, T any](f form[T], part func(*S) *T) form[S] {
	return form[S]{
		read:  func(r *reader, n node, into *S) { f.read(r, n, part(into)) },
		write: func(from S) any { return f.write(*part(&from)) }, schema: f.schema,
	}
}

// asked is a list of names.
func asked(label string, parse func(string) (string, error)) member[asking] {
	return key(label, "", list(words(parse, nil)), func(a *asking) *[]string { return &a.names })
}

// policy gives what is asked for. Without names, that is one thing without a name.
func (a asking) policy(power string) *Policy {
	p := &Policy{}
	names := a.names
	if len(names) == 0 {
		names = []string{""}
	}
	switch power {
	case PowerKV:
		p.KV = &a.kv
		return p
	case PowerHTTP:
		p.Network = a.rules
		if len(a.rules) > 0 && len(a.names) == 0 {
			return p
		}
	}
	for _, n := range names {
		switch power {
		case PowerFS:
			folder := a.folder
			folder.Guest, folder.Access = n, max(folder.Access, Read)
			p.Storage = append(p.Storage, folder)
		case PowerHTTP:
			rule := a.rule
			rule.Host = n
			p.Network = append(p.Network, rule)
		case PowerSQL:
			p.SQL = append(p.SQL, SQL{Name: n})
		case PowerEnv:
			p.Environment = append(p.Environment, n)
		case PowerSecret:
			p.Secrets = append(p.Secrets, Secret{Name: n})
		}
	}
	return p.clone()
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
