package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/enginename"
	"github.com/wasmres/wasmres/internal/strict"
)

// Version is the version of the format.
const Version = "1.0"

var (
	schemes = []string{"https", "http"}
	methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
)

// format has the rules that the tags check and keys name.
var format = strict.Format{
	Hints: map[string]string{"deny": "what is not allowed is denied: leave it out"},
	Rules: map[string]strict.Rule{
		"access":      strict.OneOf("access", "read", "write"),
		"count":       numeric(count, formatCount, "1000"),
		"cpu":         numeric(Processors, formatProcessors, "500m"),
		"dsn":         strict.TextRule(openDSN, nil),
		"duration":    strict.NewRule(duration, shortDuration, strict.Schema{"type": "string", "examples": []string{"2s", "500ms"}}),
		"engine":      strict.OneOf("engine", enginename.Wazero, enginename.Wasmtime),
		"guest path":  strict.TextRule(guestPath, strict.Schema{"pattern": "^/"}),
		"host":        strict.TextRule(host, strict.Schema{"examples": []string{"api.example.org", "*.example.org"}}),
		"host path":   strict.TextRule(HostPath, nil),
		"keyring":     strict.TextRule(keyring, strict.Schema{"pattern": "^[^/]+/.+$"}),
		"line":        strict.TextRule(Line, nil),
		"method":      strict.OneOf("method", methods...),
		"name":        strict.TextRule(name, strict.Schema{"pattern": namePattern.String()}),
		"path":        strict.TextRule(pathPattern, strict.Schema{"pattern": "^/"}),
		"port":        strict.NewRule(port, formatPort, strict.Schema{"type": "integer", "minimum": 1, "maximum": 65535}, strict.Number),
		"prose":       strict.TextRule(prose, nil),
		"scheme":      strict.OneOf("scheme", schemes...),
		"size":        numeric(Size, FormatSize, "64Mi"),
		"storage URI": strict.NewRule(storageURI, formatStorageURI, strict.Schema{"type": "string", "pattern": "^fs://.+", "examples": []string{"fs://workspace/**"}}),
		"value":       strict.NewRule(value, strict.Quote, strict.Schema{"type": []string{"string", "number", "boolean"}}, strict.Text, strict.Number, strict.Boolean),
		"variable":    strict.TextRule(variable, strict.Schema{"pattern": variablePattern.String()}),
		"version":     strict.NewRule(version, strconv.Quote, strict.Schema{"const": Version}, strict.Text, strict.Number, strict.Boolean),
	},
}

// Rules returns the rules of the scalars in policy files, by name, for the formats of other files that have them, or types
// of this package.
func Rules() map[string]strict.Rule { return maps.Clone(format.Rules) }

// numeric makes the rule of a number that may have a unit.
func numeric[T any](parse func(string) (T, error), format func(T) string, example string) strict.Rule {
	schema := strict.Schema{"type": []string{"string", "integer", "number"}, "examples": []string{example}}
	return strict.NewRule(parse, format, schema, strict.Text, strict.Number)
}

// A file is a policy file.
type file struct {
	Schema      string      `yaml:"$schema" doc:"where editors find the schema of this file; without effect"`
	Version     string      `yaml:"version,required" check:"version" doc:"the version of the format"`
	Description string      `yaml:"description" check:"prose" doc:"what the policy is for"`
	Engine      string      `yaml:"engine" check:"engine" doc:"compiles and runs the provider: wazero, or wasmtime in a program that was built with it; default: wazero"`
	Permissions permissions `yaml:"permissions,required" doc:"what the provider may access and use; everything else is denied"`
}

type permissions struct {
	Storage struct {
		Allow []Storage `yaml:"allow,required" unique:"Guest" doc:"the folders; each has its own guest path"`
	} `yaml:"storage" doc:"folders of the host that the provider may access"`
	Network struct {
		Allow []Network `yaml:"allow,required" doc:"the rules; a request is allowed if one of them allows it"`
	} `yaml:"network" doc:"servers to which the provider may send requests"`
	Environment struct {
		Allow []variableRule `yaml:"allow,required" unique:"Key" doc:"the variables"`
	} `yaml:"environment" doc:"variables of the host's environment that the provider may read"`
	Config    map[string]string `yaml:"config" check:"value" keys:"line" doc:"values for the provider, which can read them: no place for secrets"`
	Secrets   []Secret          `yaml:"secrets" unique:"Name" doc:"values that requests of the provider may carry, and that it never sees"`
	KV        *KV               `yaml:"kv" doc:"a key-value store of the provider's own; {} grants one with the host's default limits"`
	SQL       []SQL             `yaml:"sql" unique:"Name" doc:"databases that the provider may read"`
	Resources struct {
		Limits Limits `yaml:"limits" doc:"limits; default: those of the host"`
	} `yaml:"resources" doc:"resources that the provider may use"`
}

type variableRule struct {
	Key string `yaml:"key,required" check:"variable" doc:"the name of the variable"`
}

// ToFile returns p in the shape of its file.
func (p *Policy) ToFile() any {
	return file{Version: Version, Description: p.Description, Engine: p.Engine, Permissions: p.permissions()}
}

func (p *Policy) permissions() permissions {
	var in permissions
	in.Storage.Allow, in.Network.Allow = p.Storage, p.Network
	for _, key := range p.Environment {
		in.Environment.Allow = append(in.Environment.Allow, variableRule{key})
	}
	in.Config, in.Secrets, in.KV, in.SQL = p.Config, p.Secrets, p.KV, p.SQL
	in.Resources.Limits = p.Limits
	return in
}

// FromFile sets p to the policy of a file. The error names a secret that a rule uses and the file lacks.
func (p *Policy) FromFile(v any) error {
	f := v.(file)
	err := p.setPermissions(f.Permissions)
	p.Description, p.Engine = f.Description, f.Engine
	return err
}

func (p *Policy) setPermissions(in permissions) error {
	*p = Policy{
		Storage: in.Storage.Allow, Network: in.Network.Allow, Config: in.Config, Secrets: in.Secrets, KV: in.KV, SQL: in.SQL,
		Limits: in.Resources.Limits,
	}
	for _, variable := range in.Environment.Allow {
		p.Environment = append(p.Environment, variable.Key)
	}
	return p.checkSecrets()
}

// Permissions are a policy, without its description, in a file of another format: what is below permissions in a policy
// file. The format needs [Rules].
type Permissions Policy

// ToFile returns p in the shape of a file.
func (p *Permissions) ToFile() any { return (*Policy)(p).permissions() }

// FromFile sets p to what is in a file. The error is that of [Policy.FromFile].
func (p *Permissions) FromFile(v any) error { return (*Policy)(p).setPermissions(v.(permissions)) }

// checkSecrets returns an error if a rule names a secret that p lacks.
func (p *Policy) checkSecrets() error {
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
				hint = strict.Suggest(s, known)
			}
			return fmt.Errorf("the rule for %s names the secret %q, which is not under permissions.secrets: %s", n.Host, s, hint)
		}
	}
	return nil
}

// ToFile returns a as a list of words.
func (a Access) ToFile() any {
	words := []string{}
	if a&Read != 0 {
		words = append(words, "read")
	}
	if a&Write != 0 {
		words = append(words, "write")
	}
	return words
}

// FromFile sets a to a list of words.
func (a *Access) FromFile(v any) error {
	for _, word := range v.([]string) {
		if word == "write" {
			*a |= Write
		} else {
			*a |= Read
		}
	}
	return nil
}

// Validate sets the guest path, if s has none, to the one of the host folder, and checks the bounds.
func (s *Storage) Validate() error {
	if s.Guest == "" {
		s.Guest = guestOf(s.Host)
		if _, err := guestPath(s.Guest); err != nil {
			return fmt.Errorf("%w: set guest to the path at which the provider sees it", err)
		}
	}
	return checkGrowth(s.Access, s.MaxBytes, s.MaxFiles)
}

// checkGrowth refuses bounds of writing for a folder that is granted for reading only.
func checkGrowth(access Access, maxBytes, maxFiles uint64) error {
	if access&Write == 0 && maxBytes+maxFiles > 0 {
		return errors.New("max_bytes and max_files bound what is written, and access lacks write: " +
			"add write, or leave them out")
	}
	return nil
}

// Validate refuses secrets that would be sent unencrypted to a public server.
func (n *Network) Validate() error {
	if len(n.Secrets) > 0 && !n.Private && slices.Contains(n.Schemes, "http") {
		return fmt.Errorf("the rule for %s sends secrets over http: set schemes to [https], or private to true", n.Host)
	}
	return nil
}

// Validate checks that s has one source.
func (s *Secret) Validate() error {
	return exactlyOne("secret", s.Name, "env, file, keyring or sealed", s.Env, s.File, s.Keyring, s.Sealed)
}

// Validate checks that s has one source.
func (s *SQL) Validate() error {
	if s.Private && s.DSNSealed == "" {
		return fmt.Errorf("the connection %q has private, which is for dsn_sealed alone: leave it out", s.Name)
	}
	return exactlyOne("connection", s.Name, "dsn_env, dsn_file, dsn or dsn_sealed", s.DSNEnv, s.DSNFile, s.DSN, s.DSNSealed)
}

// exactlyOne returns an error unless exactly one of values is set.
func exactlyOne(what, name, keys string, values ...string) error {
	set := 0
	for _, v := range values {
		if v != "" {
			set++
		}
	}
	if set == 1 {
		return nil
	}
	return fmt.Errorf("the %s %q has %d sources: give it one of %s", what, name, set, keys)
}

// Load reads a policy file. Relative paths in it are taken from the folder it is in.
func Load(file string) (*Policy, error) {
	text, err := strict.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return p.Under(dir), nil
}

// Parse reads a policy. name stands for the file in the error, which is [strict.Problems]. Relative paths stay as they
// are.
func Parse(name string, text []byte) (*Policy, error) {
	p := &Policy{}
	if err := format.Decode(name, text, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Schema returns the JSON Schema of policy files, for editors. It lacks rules that JSON Schema cannot express, as that
// a secret which a rule names must exist; [Parse] checks these too.
func Schema() []byte { return format.Schema(&Policy{}, "policy of wasmres") }

// Format returns p as a policy file, which [Parse] reads again. Equal policies give equal files.
func (p *Policy) Format() []byte { return format.Encode(p.canonical()) }

// canonical returns a copy of p, with the lists sorted whose order means nothing.
func (p *Policy) canonical() *Policy {
	c := p.clone()
	slices.SortFunc(c.Storage, func(a, b Storage) int {
		return cmp.Or(strings.Compare(a.Guest, b.Guest), strings.Compare(a.Host, b.Host))
	})
	for i := range c.Network {
		n := &c.Network[i]
		slices.Sort(n.Schemes)
		slices.Sort(n.Ports)
		slices.Sort(n.Methods)
		slices.Sort(n.Paths)
		slices.Sort(n.Secrets)
	}
	slices.SortFunc(c.Network, func(a, b Network) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	slices.Sort(c.Environment)
	slices.SortFunc(c.Secrets, func(a, b Secret) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.SQL, func(a, b SQL) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
