package policy

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Lines says in words what p permits, one thing a line: powers first, then configuration and limits. Values of the
// configuration are left out, since they may be nobody else's business.
func (p *Policy) Lines() []string {
	var lines []string
	for _, power := range p.powers() {
		lines = append(lines, power.words)
	}
	for _, key := range sortedKeys(p.Config) {
		lines = append(lines, "be told the configuration value "+key)
	}
	for _, l := range p.Limits.named() {
		if l.set {
			lines = append(lines, fmt.Sprintf("use %s %s", l.name, l.text))
		}
	}
	return lines
}

// A power is one thing that is permitted: in words, and as a policy of nothing else.
type power struct {
	words string
	alone *Policy
}

func (p *Policy) powers() (powers []power) {
	p = p.canonical()
	for _, s := range p.Storage {
		powers = append(powers, power{s.String(), &Policy{Storage: []Storage{s}}})
	}
	for _, n := range p.Network {
		powers = append(powers, power{n.String(), &Policy{Network: []Network{n}}})
	}
	for _, s := range p.Secrets {
		powers = append(powers, power{s.String(), &Policy{Secrets: []Secret{s}}})
	}
	for _, s := range p.SQL {
		powers = append(powers, power{s.String(), &Policy{SQL: []SQL{s}}})
	}
	if p.KV != nil {
		powers = append(powers, power{p.KV.String(), &Policy{KV: p.KV}})
	}
	for _, key := range p.Environment {
		variable := cmp.Or(prefixed("the environment variable ", key), "environment variables it does not name")
		powers = append(powers, power{"read " + variable, &Policy{Environment: []string{key}}})
	}
	return powers
}

func (a Access) String() string {
	switch a {
	case Read:
		return "read"
	case Write:
		return "write"
	case Read | Write:
		return "read and write"
	}
	return "see"
}

// String says in words what s permits.
func (s Storage) String() string {
	text := s.Access.String() + " files"
	if s.Guest != "" {
		text += " at " + s.Guest
	}
	if s.Host != "" {
		text += ", which are those of " + s.Host
	}
	return text + s.growth()
}

// growth says in words what may be added, unless that is the default.
func (s Storage) growth() string {
	bytes := cmp.Or(s.MaxBytes, DefaultMaxBytes) != DefaultMaxBytes
	files := cmp.Or(s.MaxFiles, DefaultMaxFiles) != DefaultMaxFiles
	label := "adding at most"
	if bytes {
		label = "and at most"
	}
	return bounds(
		bound{"adding up to", bytes, formatSize(s.MaxBytes)},
		bound{label, files, fmt.Sprint(s.MaxFiles, " files and folders")},
	)
}

// String says in words what n permits.
func (n Network) String() string {
	var b strings.Builder
	e := n.effective()
	fmt.Fprintf(&b, "send %s to %s://", strings.Join(e.Methods, ", "), strings.Join(e.Schemes, "|"))
	switch {
	case n.Host == "":
		b.WriteString("(hosts it does not name)")
	case strings.Contains(n.Host, ":"):
		b.WriteString("[" + n.Host + "]")
	default:
		b.WriteString(n.Host)
	}
	if len(n.Ports) > 0 {
		b.WriteString(":" + strings.Trim(strings.ReplaceAll(fmt.Sprint(n.Ports), " ", "|"), "[]"))
	}
	b.WriteString(strings.Join(n.Paths, "|"))
	if n.Private {
		b.WriteString(", also at private addresses")
	}
	if len(n.Secrets) > 0 {
		b.WriteString(", with the secret " + strings.Join(n.Secrets, ", "))
	}
	return b.String()
}

// String says in words what s permits.
func (s Secret) String() string {
	text := "use " + cmp.Or(prefixed("the secret ", s.Name), "secrets it does not name") + ", unseen"
	switch {
	case s.Env != "":
		text += ", from the environment variable " + s.Env
	case s.File != "":
		text += ", from the file " + s.File
	case s.Keyring != "":
		text += ", from the keyring's " + s.Keyring
	}
	return text
}

// String says in words what s permits.
func (s SQL) String() string {
	text := "read databases by connections it does not name"
	if s.Name != "" {
		text = "read the database " + s.Name
	}
	switch {
	case s.DSNEnv != "":
		text += ", by the environment variable " + s.DSNEnv
	case s.DSNFile != "":
		text += ", by the file " + s.DSNFile
	case s.DSN != "":
		text += ", by " + s.DSN
	}
	if s.Privileged {
		text += ", in a role that may do more than read"
	}
	return text + bounds(
		bound{"for", s.Timeout > 0, shortDuration(s.Timeout)},
		bound{"at most", s.MaxRows > 0, fmt.Sprint(s.MaxRows, " rows")},
		bound{"up to", s.MaxBytes > 0, formatSize(s.MaxBytes)},
	)
}

// String says in words what k permits.
func (k *KV) String() string {
	text := "keep values between requests"
	if k.ReadOnly {
		text = "read kept values"
	}
	if k.Namespace != "" {
		text += ", in the store " + k.Namespace
	}
	return text + bounds(
		bound{"up to", k.MaxBytes > 0, formatSize(k.MaxBytes)},
		bound{"with at most", k.MaxKeys > 0, fmt.Sprint(k.MaxKeys, " keys")},
		bound{"each up to", k.MaxValue > 0, formatSize(k.MaxValue)},
	)
}

// A bound is a number with a name, if it is set.
type bound struct {
	name string
	set  bool
	text string
}

func bounds(all ...bound) string {
	text := ""
	for _, b := range all {
		if b.set {
			text += ", " + b.name + " " + b.text
		}
	}
	return text
}

func (l Limits) named() []bound {
	size := func(name string, n uint64) bound { return bound{name, n > 0, formatSize(n)} }
	return []bound{
		{"cpu", l.MilliCPU > 0, formatProcessors(l.MilliCPU)},
		size("memory", l.Memory), {"fuel", l.Fuel > 0, fmt.Sprint(l.Fuel)},
		{"timeout", l.Timeout > 0, shortDuration(l.Timeout)},
		size("output", l.Output), size("stack", l.Stack), size("log", l.Log),
	}
}

// A Difference is what one policy permits more than another, and what less, in words.
type Difference struct{ More, Less []string }

// Diff says what now permits more than before, and what less.
func Diff(before, now *Policy) Difference {
	d := Difference{More: beyond(before, now), Less: beyond(now, before)}
	for _, key := range sortedKeys(now.Config) {
		if v, was := before.Config[key]; !was || v != now.Config[key] {
			d.More = append(d.More, "be told another configuration value "+key)
		}
	}
	for _, key := range sortedKeys(before.Config) {
		if _, is := now.Config[key]; !is {
			d.Less = append(d.Less, "be told the configuration value "+key)
		}
	}
	old, next := before.Limits.numbers(), now.Limits.numbers()
	for i, l := range now.Limits.named() {
		if old[i] == next[i] {
			continue
		}
		was := cmp.Or(before.Limits.named()[i].shown(), "the default")
		text := fmt.Sprintf("use %s %s, where it was %s", l.name, cmp.Or(l.shown(), "as by default"), was)
		if next[i] != 0 && next[i] < old[i] {
			d.Less = append(d.Less, text)
		} else {
			d.More = append(d.More, text) // of a default it is not known here whether it is less
		}
	}
	return d
}

func (b bound) shown() string {
	if !b.set {
		return ""
	}
	return b.text
}

func (l Limits) numbers() []uint64 {
	return []uint64{uint64(l.MilliCPU), l.Memory, l.Fuel, uint64(l.Timeout / time.Nanosecond), l.Output, l.Stack, l.Log}
}

// beyond says which powers of now before does not cover.
func beyond(before, now *Policy) (words []string) {
	for _, p := range now.powers() {
		if !Covers(before, p.alone) {
			words = append(words, p.words)
		}
	}
	return words
}
