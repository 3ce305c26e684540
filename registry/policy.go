package registry

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/registry/internal/bundle"
)

// A TrustPolicy says which signatures the providers of which repositories need. It is immutable. This is one in a file:
//
//	version: "1.0"
//	keys:
//	  - name: ada
//	    file: ada.pub               # beside this file
//	  - name: release
//	    pem: |
//	      -----BEGIN PUBLIC KEY-----
//	      …
//	      -----END PUBLIC KEY-----
//	rules:
//	  - repositories: [ghcr.io/ada/*]
//	    keys: [ada, release]
//	    require: all                # or any, the default, or a number
//	  - repositories: ["localhost:5000"]
//	    require: none
//	default: refuse                 # what no rule matches
//	files: allow                    # modules in files; refuse if this is missing
//
// The first rule that matches decides, so that the file is read from top to bottom, as it is by a person. A pattern that can
// never decide, since one before it matches all its repositories, is an error.
//
// A rule is about names: it cannot know that two hosts are the same registry. References that differ in letter case, in the
// port 443 or in the hosts of Docker's registry have one name. A user that relies on signatures writes default: refuse.
type TrustPolicy struct {
	source string // of the policy, for messages: its file, or what it was made of
	none   bool   // there is no policy, as source says: nothing needs a signature
	given  bool   // it is of [RequireKeys], whose rule has no pattern of the user's
	rules  []*rule
	// byDefault and files are allow or refuse.
	byDefault, files string
}

// A rule has the keys that are accepted for some repositories, need of which must have signed; zero for no signature.
type rule struct {
	patterns []*pattern
	keys     []namedKey
	need     int
}

type namedKey struct {
	name string
	key  *bundle.PublicKey
}

// DefaultPolicyFile returns the place of the user's trust policy: wasmres/trust.yaml in the user's folder of settings.
func DefaultPolicyFile() (string, error) {
	base, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "wasmres", "trust.yaml"), nil
}

// DefaultPolicy loads the user's trust policy. If there is no file, it returns one that requires no signature of anything; what
// it accepts is not [Verified.Signed], and says why.
func DefaultPolicy() (*TrustPolicy, error) {
	file, err := DefaultPolicyFile()
	if err != nil {
		return allowAll("there is no trust policy, as the user has no folder of settings"), nil
	}
	p, err := LoadPolicy(file)
	if err != nil && !exists(file) {
		return allowAll("there is no trust policy at " + file), nil
	}
	return p, err
}

// allowAll returns a policy that requires no signature, for a reason.
func allowAll(reason string) *TrustPolicy {
	return &TrustPolicy{source: reason, none: true, byDefault: allow, files: allow}
}

// exists reports whether there is something of that name, be it a link to nothing.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) // a folder above it may be a file
}

// LoadPolicy loads a trust policy and the keys that it names. The error has the line of each problem.
func LoadPolicy(file string) (*TrustPolicy, error) {
	text, err := strict.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("trust policy: %w", err)
	}
	return ParsePolicy(file, text)
}

// ParsePolicy parses the text of a trust policy. file is named in errors, and relative names of keys begin at its folder.
func ParsePolicy(file string, text []byte) (*TrustPolicy, error) {
	var f policyFile
	root, err := policyFormat.DecodeNode(file, text, &f)
	if err != nil {
		return nil, fmt.Errorf("trust policy: %w", err)
	}
	r := &policyReader{name: file, dir: filepath.Dir(file), root: root, keys: map[string]namedKey{}}
	r.readKeys(f.Keys)
	p := &TrustPolicy{source: file, rules: r.readRules(f.Rules), byDefault: f.Default, files: cmp.Or(f.Files, refuse)}
	if len(r.problems) > 0 {
		return nil, fmt.Errorf("trust policy: %w", r.problems)
	}
	return p, nil
}

// RequireKeys returns a policy that requires of every provider a signature by one of keys, at most 16. It refuses files.
func RequireKeys(keys ...*PublicKey) (*TrustPolicy, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("trust policy: there are %d keys: give 1 to %d", len(keys), maxKeys)
	}
	all, err := parsePattern("**")
	if err != nil {
		return nil, err
	}
	only := &rule{patterns: []*pattern{all}, need: 1}
	for _, k := range keys {
		only.keys = append(only.keys, namedKey{"key " + k.ID()[:12], k.key})
	}
	return &TrustPolicy{source: "the given keys", given: true, rules: []*rule{only}, byDefault: refuse, files: refuse}, nil
}

// ruleFor returns the rule that decides about a repository; nil for the default.
func (p *TrustPolicy) ruleFor(name string) *rule {
	for _, r := range p.rules {
		if r.matches(name) != "" {
			return r
		}
	}
	return nil
}

// matches returns the pattern that matches a canonical name; empty for none.
func (r *rule) matches(name string) string {
	for _, p := range r.patterns {
		if p.match(name) {
			return p.text
		}
	}
	return ""
}

// requirement says what a rule requires.
func (r *rule) requirement() string {
	names := make([]string, len(r.keys))
	for i := range r.keys {
		names[i] = r.keys[i].name
	}
	list := strings.Join(names, ", ")
	switch {
	case len(r.keys) == 1:
		return "a signature by " + list + " is required"
	case r.need == len(r.keys):
		return "signatures by all of " + list + " are required"
	case r.need == 1:
		return "a signature by any of " + list + " is required"
	}
	return fmt.Sprintf("signatures by %d of %s are required", r.need, list)
}
