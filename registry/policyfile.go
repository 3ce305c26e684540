package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/registry/internal/bundle"
)

// maxKeys bounds the keys of a rule: each signature may have to be tried with all of them.
const maxKeys = 16

// What a policy file contains. The docs of the fields are those of the JSON Schema.
type (
	policyFile struct {
		Version string      `yaml:"version,required" check:"version" doc:"the version of the format"`
		Keys    []keyEntry  `yaml:"keys" unique:"Name" doc:"the public keys that rules name"`
		Rules   []ruleEntry `yaml:"rules" doc:"the first rule that matches a repository decides"`
		Default string      `yaml:"default,required" check:"decision" doc:"for repositories that no rule matches: allow, without a signature, or refuse"`
		Files   string      `yaml:"files" check:"decision" doc:"for modules in files, which have no signature: allow or refuse, the default"`
	}
	keyEntry struct {
		Name string `yaml:"name,required" check:"name" doc:"in rules and messages"`
		File string `yaml:"file" doc:"the file of the key; a relative path begins at the folder of the policy"`
		PEM  string `yaml:"pem" doc:"the text of the key, in place of a file"`
	}
	ruleEntry struct {
		Repositories []string    `yaml:"repositories,required,nonempty" check:"pattern" doc:"patterns, as ghcr.io/ada/*: a star is for a part of an element, ** for any elements; without stars, for all below"`
		Keys         []string    `yaml:"keys,nonempty" doc:"the names of the keys that are accepted, at most 16"`
		Require      requirement `yaml:"require" check:"requirement" doc:"how many of the keys must have signed: any, the default, all, or a number; none for no signature"`
	}
)

// A requirement is any, all, none, or a number as text.
type requirement string

const (
	requireAny  requirement = "any"
	requireAll  requirement = "all"
	requireNone requirement = "none"
)

const (
	allow  = "allow"
	refuse = "refuse"
)

var keyName = lazyregexp.New(`^[A-Za-z0-9_.@+-]{1,64}$`)

var policyFormat = strict.Format{Rules: map[string]strict.Rule{
	"version":  strict.NewRule(parseVersion, strict.Quote, strict.Schema{"const": "1.0"}, strict.Text, strict.Number),
	"decision": strict.OneOf("a decision", allow, refuse),
	"name":     strict.TextRule(parseKeyName, strict.Schema{"pattern": keyName.String()}),
	"pattern":  strict.TextRule(func(s string) (string, error) { _, err := parsePattern(s); return s, err }, nil),
	"requirement": strict.NewRule(parseRequirement, func(s string) string { return s },
		strict.Schema{"anyOf": []strict.Schema{{"enum": []string{"any", "all", "none"}}, {"type": "integer", "minimum": 1, "maximum": maxKeys}}},
		strict.Text, strict.Number),
}}

func parseVersion(s string) (string, error) {
	if s != "1.0" {
		return "", fmt.Errorf("the version is %q, expected %q", strict.Clip(s), "1.0")
	}
	return s, nil
}

func parseKeyName(s string) (string, error) {
	if !keyName.MatchString(s) {
		return "", fmt.Errorf(`%q is not a name: a name has letters, digits and any of "_.@+-", at most 64`, strict.Clip(s))
	}
	return s, nil
}

func parseRequirement(s string) (string, error) {
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= maxKeys && strconv.Itoa(n) == s {
		return s, nil
	}
	return strict.Word("a requirement", s, []string{"any", "all", "none"})
}

// PolicySchema returns the JSON Schema of a trust policy.
func PolicySchema() []byte { return policyFormat.Schema(policyFile{}, "trust policy of wasmres") }

// A policyReader makes a TrustPolicy of a file. It collects the problems that the format alone does not show.
type policyReader struct {
	name, dir string
	root      strict.Node
	keys      map[string]namedKey
	problems  strict.Problems
}

func (r *policyReader) fail(n strict.Node, format string, args ...any) {
	r.problems = append(r.problems, strict.Problem{File: r.name, Line: n.Line, Column: n.Column, Text: fmt.Sprintf(format, args...)})
}

// entry returns the place of an entry of a list of the file.
func (r *policyReader) entry(list string, i int) strict.Node { return r.root.At(list, strconv.Itoa(i)) }

// readKeys loads the keys. Two names for one key are refused: they would count as two signatures.
func (r *policyReader) readKeys(entries []keyEntry) {
	names := map[string]string{}
	for i, e := range entries {
		key, err := r.loadKey(e)
		if err != nil {
			r.fail(r.entry("keys", i), "the key %q: %v", e.Name, err)
			continue
		}
		if other, twice := names[key.ID()]; twice {
			r.fail(r.entry("keys", i), "the key %q is the same as %q: remove one of them", e.Name, other)
		}
		names[key.ID()] = e.Name
		r.keys[e.Name] = namedKey{e.Name, key}
	}
}

func (r *policyReader) loadKey(e keyEntry) (*bundle.PublicKey, error) {
	switch {
	case (e.File == "") == (e.PEM == ""):
		return nil, errors.New("write either file or pem")
	case e.PEM != "":
		return bundle.ParsePublicKey([]byte(e.PEM))
	}
	file := e.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.dir, file)
	}
	key, err := LoadPublicKey(file)
	if err != nil {
		return nil, err
	}
	return key.key, nil
}

func (r *policyReader) readRules(entries []ruleEntry) (rules []*rule) {
	for i, e := range entries {
		next := r.readRule(r.entry("rules", i), e)
		for before, earlier := range rules {
			r.checkReached(r.entry("rules", i), next, before, earlier)
		}
		rules = append(rules, next)
	}
	return rules
}

// checkReached refuses a pattern whose names an earlier rule takes: the user would take it to be in force.
func (r *policyReader) checkReached(at strict.Node, next *rule, before int, earlier *rule) {
	for _, p := range next.patterns {
		if slices.ContainsFunc(earlier.patterns, func(e *pattern) bool { return e.covers(p) }) {
			r.fail(at, "the pattern %q is never reached, since rule %d matches all its repositories: move this rule before it", p.text, before+1)
		}
	}
}

func (r *policyReader) readRule(at strict.Node, e ruleEntry) *rule {
	next := &rule{}
	for _, text := range e.Repositories {
		p, err := parsePattern(text)
		if err != nil { // the format has checked it
			r.fail(at, "%v", err)
			continue
		}
		next.patterns = append(next.patterns, p)
	}
	next.keys = r.ruleKeys(at, e.Keys)
	next.need = len(next.keys)
	switch n, err := strconv.Atoi(string(e.Require)); {
	case e.Require == requireNone && len(e.Keys) > 0:
		r.fail(at, "the rule requires no signature, so it has no use for keys: remove keys, or require: none")
	case e.Require != requireNone && len(e.Keys) == 0:
		r.fail(at, "the rule has no keys: add some, or require: none to accept what is not signed")
	case e.Require == "" || e.Require == requireAny:
		next.need = min(1, len(next.keys))
	case err == nil && n > len(e.Keys):
		r.fail(at, "the rule requires %d signatures and has %d keys", n, len(e.Keys))
	case err == nil:
		next.need = n
	}
	return next
}

func (r *policyReader) ruleKeys(at strict.Node, names []string) (keys []namedKey) {
	if len(names) > maxKeys {
		r.fail(at, "the rule has %d keys, at most %d are allowed", len(names), maxKeys)
	}
	for i, name := range names {
		key, ok := r.keys[name]
		if !ok && len(r.problems) == 0 {
			r.fail(at, "there is no key %q under keys", strict.Clip(name))
		}
		if slices.Contains(names[:i], name) {
			r.fail(at, "the key %q is in the rule twice", strict.Clip(name))
		}
		if ok {
			keys = append(keys, key)
		}
	}
	return keys
}
