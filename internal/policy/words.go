package policy

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Lines describes p in words: a line for each grant, then for each configuration key, the engine, and for each limit. It leaves out
// configuration values, which may be private.
func (p *Policy) Lines() []string {
	var lines []string
	for _, grant := range p.grants() {
		lines = append(lines, grant.words)
	}
	for _, key := range sortedKeys(p.Config) {
		lines = append(lines, "read the configuration value "+key)
	}
	if p.Engine != "" {
		lines = append(lines, "run on the engine "+p.Engine)
	}
	for _, l := range p.Limits.named() {
		if l.set {
			lines = append(lines, fmt.Sprintf("use %s %s", l.name, l.text))
		}
	}
	return lines
}

// A grant is one entry of a policy: in words, and as a policy of its own.
type grant struct {
	words string
	alone *Policy
}

func (p *Policy) grants() (grants []grant) {
	p = p.canonical()
	for _, s := range p.Storage {
		grants = append(grants, grant{s.String(), &Policy{Storage: []Storage{s}}})
	}
	for _, n := range p.Network {
		grants = append(grants, grant{n.String(), &Policy{Network: []Network{n}}})
	}
	for _, s := range p.Secrets {
		grants = append(grants, grant{s.String(), &Policy{Secrets: []Secret{s}}})
	}
	for _, s := range p.SQL {
		grants = append(grants, grant{s.String(), &Policy{SQL: []SQL{s}}})
	}
	if p.KV != nil {
		grants = append(grants, grant{p.KV.String(), &Policy{KV: p.KV}})
	}
	for _, key := range p.Environment {
		variable := cmp.Or(prefixed("the environment variable ", key), "environment variables it does not name")
		grants = append(grants, grant{"read " + variable, &Policy{Environment: []string{key}}})
	}
	return grants
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

// String describes in words what s permits.
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

// growth describes in words how much may be added, unless that is the default.
func (s Storage) growth() string {
	bytes := cmp.Or(s.MaxBytes, DefaultMaxBytes) != DefaultMaxBytes
	files := cmp.Or(s.MaxFiles, DefaultMaxFiles) != DefaultMaxFiles
	label := "adding at most"
	if bytes {
		label = "and at most"
	}
	return bounds(
		bound{"adding up to", bytes, FormatSize(s.MaxBytes)},
		bound{label, files, fmt.Sprint(s.MaxFiles, " files and folders")},
	)
}

// String describes in words what n permits.
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

// String describes in words what s permits.
func (s Secret) String() string {
	text := "use " + cmp.Or(prefixed("the secret ", s.Name), "secrets it does not name") + ", unseen"
	switch {
	case s.Env != "":
		text += ", from the environment variable " + s.Env
	case s.File != "":
		text += ", from the file " + s.File
	case s.Keyring != "":
		text += ", from the keyring's " + s.Keyring
	case s.Sealed != "":
		text += ", from the tenant's sealed secret " + s.Sealed
	}
	return text
}

// String describes in words what s permits.
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
	case s.DSNSealed != "":
		text += ", by the tenant's sealed secret " + s.DSNSealed
	}
	if s.Private {
		text += ", also at private addresses"
	}
	if s.Privileged {
		text += ", in a role that may do more than read"
	}
	return text + bounds(
		bound{"for", s.Timeout > 0, shortDuration(s.Timeout)},
		bound{"at most", s.MaxRows > 0, fmt.Sprint(s.MaxRows, " rows")},
		bound{"up to", s.MaxBytes > 0, FormatSize(s.MaxBytes)},
	)
}

// String describes in words what k permits.
func (k *KV) String() string {
	text := "keep values between requests"
	if k.ReadOnly {
		text = "read kept values"
	}
	if k.Namespace != "" {
		text += ", in the store " + k.Namespace
	}
	return text + bounds(
		bound{"up to", k.MaxBytes > 0, FormatSize(k.MaxBytes)},
		bound{"with at most", k.MaxKeys > 0, fmt.Sprint(k.MaxKeys, " keys")},
		bound{"each up to", k.MaxValue > 0, FormatSize(k.MaxValue)},
	)
}

// A bound is a limit in words.
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
	size := func(name string, n uint64) bound { return bound{name, n > 0, FormatSize(n)} }
	return []bound{
		{"cpu", l.MilliCPU > 0, formatProcessors(l.MilliCPU)},
		size("memory", l.Memory), {"fuel", l.Fuel > 0, fmt.Sprint(l.Fuel)},
		{"timeout", l.Timeout > 0, shortDuration(l.Timeout)},
		size("output", l.Output), size("stack", l.Stack), size("log", l.Log),
	}
}

// A Difference lists in words what one policy permits and another does not, each way.
type Difference struct{ More, Less []string }

// Diff compares what two versions of a policy permit.
func Diff(before, now *Policy) Difference {
	d := Difference{More: added(before, now), Less: added(now, before)}
	for _, key := range sortedKeys(now.Config) {
		if v, was := before.Config[key]; !was || v != now.Config[key] {
			d.More = append(d.More, "read a new configuration value "+key)
		}
	}
	for _, key := range sortedKeys(before.Config) {
		if _, is := now.Config[key]; !is {
			d.Less = append(d.Less, "read the configuration value "+key)
		}
	}
	old, next := before.Limits.numbers(), now.Limits.numbers()
	for i, l := range now.Limits.named() {
		if old[i] == next[i] {
			continue
		}
		was := cmp.Or(before.Limits.named()[i].orEmpty(), "the default")
		text := fmt.Sprintf("use %s %s, where it was %s", l.name, cmp.Or(l.orEmpty(), "as by default"), was)
		if next[i] != 0 && next[i] < old[i] {
			d.Less = append(d.Less, text)
		} else {
			d.More = append(d.More, text) // the default is unknown here, and may be less
		}
	}
	return d
}

func (b bound) orEmpty() string {
	if !b.set {
		return ""
	}
	return b.text
}

func (l Limits) numbers() []uint64 {
	return []uint64{uint64(l.MilliCPU), l.Memory, l.Fuel, uint64(l.Timeout / time.Nanosecond), l.Output, l.Stack, l.Log}
}

// Beyond gives, in words, the grants of p that ceiling does not cover. It compares neither configuration nor limits.
func Beyond(ceiling, p *Policy) []string { return added(ceiling, p) }

// added gives, in words, the grants of now that before does not cover.
func added(before, now *Policy) (words []string) {
	for _, p := range now.grants() {
		if !Covers(before, p.alone) {
			words = append(words, p.words)
		}
	}
	return words
}
