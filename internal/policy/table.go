package policy

import (
	"fmt"
	"slices"
)

// Version is the version of the format.
const Version = "1.0"

// The table of a policy file: each key, what it means, and how its value is read and written.
var policyForm = checked(record(
	ignored[Policy]("$schema", "where editors find the schema of this file; of no effect"),
	constant[Policy]("version", "the version of the format", Version),
	key("description", "what the policy is for", words(prose, nil), func(p *Policy) *string { return &p.Description }),
	kept(required(key("permissions", "what the provider may touch and use; what is not here is denied",
		permissions, self[Policy]))),
), secretsAreKnown)

var permissions = record(
	key("storage", "folders of the host", storage, self[Policy]),
	key("network", "servers that may be asked", network, self[Policy]),
	key("environment", "variables of the host's environment", environment, self[Policy]),
	key("config", "values handed over to the provider; secrets do not belong here",
		valuesForm, func(p *Policy) *map[string]string { return &p.Config }),
	key("secrets", "values the provider may use and never sees",
		distinct(list(secretForm), secretName), func(p *Policy) *[]Secret { return &p.Secrets }),
	key("kv", "a key-value store of the provider's own; {} grants one with the host's bounds",
		optional(kvForm), func(p *Policy) **KV { return &p.KV }),
	key("sql", "databases that may be read, by the name of the connection",
		distinct(list(sqlForm), connectionName), func(p *Policy) *[]SQL { return &p.SQL }),
	key("resources", "what the provider may use", resources, self[Policy]),
)

var (
	storage = record(required(key("allow", "the folders",
		distinct(list(storageForm), guestFolder), func(p *Policy) *[]Storage { return &p.Storage })))
	network = record(required(key("allow", "the rules; one must allow a request",
		list(networkForm), func(p *Policy) *[]Network { return &p.Network })))
	environment = record(required(key("allow", "the variables",
		distinct(list(variableForm), itself), func(p *Policy) *[]string { return &p.Environment })))
	resources = record(key("limits", "bounds; the host's defaults where nothing is said",
		limitsForm, func(p *Policy) *Limits { return &p.Limits }))
)

func secretName(s Secret) string   { return s.Name }
func connectionName(s SQL) string  { return s.Name }
func guestFolder(s Storage) string { return s.Guest }
func itself(key string) string     { return key }

// self is the part of a record that is all of it, for keys that only group others.
func self[S any](s *S) *S { return s }

// distinct is a list whose entries have different names.
func distinct[T any](f form[[]T], name func(T) string) form[[]T] {
	return checked(f, func(entries []T) string {
		seen := map[string]bool{}
		for _, e := range entries {
			n := name(e)
			if seen[n] {
				return fmt.Sprintf("%q is here twice", n)
			}
			seen[n] = true
		}
		return ""
	})
}

// secretsAreKnown finds rules that name secrets there are not.
func secretsAreKnown(p Policy) string {
	var known []string
	for _, s := range p.Secrets {
		known = append(known, s.Name)
	}
	for _, n := range p.Network {
		for _, s := range n.Secrets {
			if slices.Contains(known, s) {
				continue
			}
			hint := "there are none"
			if len(known) > 0 {
				hint = orElse(s, known)
			}
			return fmt.Sprintf("the rule for %s names the secret %q, which is not under permissions.secrets: %s",
				n.Host, s, hint)
		}
	}
	return ""
}

// maxValues bounds the configuration values.
const maxValues = 256

// valuesForm is a mapping with keys of the operator's own. Numbers and true or false are taken as they stand.
var valuesForm = form[map[string]string]{
	read: func(r *reader, n node, into *map[string]string) {
		if !r.want(n, mapping) {
			return
		}
		if len(n.entries) > maxValues {
			r.fail(n, "there are %d values, at most %d are allowed", len(n.entries), maxValues)
			return
		}
		*into = map[string]string{}
		for _, e := range n.entries {
			(*into)[e.key.text] = readValue(r, e)
		}
	},
	write: func(values map[string]string) any {
		if len(values) == 0 {
			return nil
		}
		var out fields
		for _, k := range sortedKeys(values) {
			out = append(out, field{k, values[k]})
		}
		return out
	},
	schema: schema{
		"type":                 "object",
		"additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}},
	},
}

func readValue(r *reader, e entry) string {
	if _, err := line(e.key.text); err != nil {
		r.fail(e.key, "a key of the configuration: %v", err)
	}
	if e.value.kind == nothing || e.value.kind > boolean {
		r.want(e.value, text)
		return ""
	}
	v, err := value(e.value.text)
	if err != nil {
		r.fail(e.value, "%v", err)
	}
	return v
}
