package tenant

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/registry"
)

// actions are those of [Rule.Actions].
var actions = []string{"list", "read", "watch", "complete", "download"}

// maxRules bounds the rules of a role, with those of the roles that it uses.
const maxRules = 1000

// What a file of a tenant contains.
type (
	tenantFile struct {
		Schema    string                  `yaml:"$schema" doc:"where editors find the schema of this file; without effect"`
		Plan      string                  `yaml:"plan" check:"object name" doc:"the plan of serve.yaml that bounds the tenant; default: default"`
		Disabled  bool                    `yaml:"disabled" doc:"whether every request of the tenant is refused"`
		Hosts     []string                `yaml:"hosts" check:"host name" doc:"names by which clients reach the tenant at /mcp, beside /t/ID/mcp; no other tenant may have them"`
		Origins   []string                `yaml:"origins" check:"origin" doc:"origins of web pages that may call the tenant; default: none"`
		Tools     bool                    `yaml:"tools" doc:"whether resources are also offered as tools, for clients that support only tools"`
		CrashURIs bool                    `yaml:"crash_uris" doc:"whether reports of crashes have the URIs of the calls; default: as the plan says"`
		Providers map[string]providerFile `yaml:"providers" keys:"object name" doc:"the tenant's providers, by name"`
		Roles     map[string][]ruleFile   `yaml:"roles" keys:"object name" doc:"what clients may do, by names that keys have; a role permits what any of its rules permits"`
		Auth      authFile                `yaml:"auth" doc:"who clients are"`
	}
	providerFile struct {
		Module        string              `yaml:"module" check:"module" doc:"the .wasm file, from the folder of this file, or a reference, as ghcr.io/ada/notes:1.0.0; default: modules are deployed, by 'wasmres deploy'"`
		Digest        string              `yaml:"digest" check:"digest" doc:"that the module must have; default: any"`
		Description   string              `yaml:"description" check:"prose" doc:"what the provider is for; default: the description of its policy"`
		Policy        string              `yaml:"policy" check:"host path" doc:"the policy file, from the folder of this file; without module, it is approved in advance what it permits; default: no capability is granted"`
		Permissions   *policy.Permissions `yaml:"permissions" doc:"what the provider may access and use, as in a policy file, in place of policy"`
		Prefixes      []string            `yaml:"prefixes,nonempty" check:"URI prefix" doc:"narrow the URIs that the provider may answer; default: those of its manifest"`
		Principal     bool                `yaml:"pass_principal" doc:"whether the provider is told who the client is; its answers are then not shared between clients"`
		RecordCrashes bool                `yaml:"record_crashes" doc:"whether a call in which the provider crashes is kept with all by which it can run again: the request with its URI, what the provider was answered, its time and random numbers"`
		Engine        string              `yaml:"engine" check:"engine" doc:"runs the provider: wazero, or wasmtime in a program that was built with it; default: that of the plan"`
		Shadow        int                 `yaml:"shadow" check:"number" doc:"one of so many calls also runs on the other engine, in the background, where it must end in the same way; default: that of the plan"`
	}
	ruleFile struct {
		Do        []string `yaml:"do,nonempty" check:"action" doc:"what clients may do; default: everything"`
		URIs      []string `yaml:"uris,nonempty" check:"URI pattern" doc:"patterns of the URIs; ** is every URI"`
		Providers []string `yaml:"providers,nonempty" check:"object name" doc:"the providers whose resources these are; default: all"`
		Scope     string   `yaml:"scope" check:"scope" doc:"that a token must have for it; clients with keys need none; default: none"`
		Use       string   `yaml:"use" check:"object name" doc:"permits what another role permits, and stands alone"`
	}
)

// Validate checks that r is a rule of its own, or names another role.
func (r *ruleFile) Validate() error {
	switch {
	case r.Use != "" && len(r.Do)+len(r.URIs)+len(r.Providers)+len(r.Scope) > 0:
		return errors.New("use stands alone: write what else is permitted as another rule")
	case r.Use == "" && len(r.URIs) == 0:
		return errors.New(`the rule permits nothing: add uris, as ["notes://**"], or use with the name of a role`)
	}
	return nil
}

// TenantSchema returns the JSON Schema of the files of tenants, for editors.
func TenantSchema() []byte { return format.Schema(tenantFile{}, "tenant of wasmres") }

// Encode returns t as a file, which reads as an equal tenant but for Files and Digest. Policies are within it, and paths are
// absolute.
func (t *Tenant) Encode() []byte {
	f := tenantFile{
		Plan: t.Plan, Disabled: t.Disabled, Hosts: t.Hosts, Origins: t.Origins, Tools: t.Tools, CrashURIs: t.CrashURIs,
		Providers: map[string]providerFile{}, Roles: map[string][]ruleFile{},
	}
	f.Auth = authFileOf(t)
	for i := range t.Providers {
		p := &t.Providers[i]
		in := providerFile{
			Module: p.Module, Digest: p.Digest, Description: p.Policy.Description, Prefixes: p.Prefixes, Principal: p.PassPrincipal, RecordCrashes: p.RecordCrashes, Engine: p.Engine, Shadow: p.Shadow,
		}
		if pol := p.Policy; !pol.Empty() || len(pol.Config) > 0 || pol.Limits != (policy.Limits{}) {
			in.Permissions = (*policy.Permissions)(&pol)
		}
		f.Providers[p.Name] = in
	}
	for _, r := range t.Roles {
		rules := []ruleFile{}
		for _, rule := range r.Rules {
			rules = append(rules, ruleFile{Do: rule.Actions, URIs: rule.URIs, Providers: rule.Providers, Scope: rule.Scope})
		}
		f.Roles[r.Name] = rules
	}
	if text := format.Encode(f); len(text) > 0 {
		return text
	}
	return []byte("{}\n")
}

// A tenantReader makes a Tenant of the text of a file.
type tenantReader struct {
	document
	folder   string                        // absolute, of relative paths
	policies func(name string) *policyFile // reads a policy by its absolute path
	hasFile  func(name string) error       // says why there is no file of this absolute path; nil if there is one
	used     []*policyFile                 // by the tenant, with repetitions
	missing  []string                      // absolute paths of files that the tenant lacks
	url      string                        // of the server; empty if that is not known
}

// read returns the tenant, which is incomplete if there are problems.
func (r *tenantReader) read(id string, text []byte) *Tenant {
	var f tenantFile
	if !r.decode(text, &f) {
		return nil
	}
	t := &Tenant{
		ID: id, Plan: f.Plan, Hosts: f.Hosts, Origins: f.Origins, Anonymous: f.Auth.Anonymous, Scopes: f.Auth.Scopes, Tools: f.Tools, CrashURIs: f.CrashURIs, Disabled: f.Disabled,
		Owner: OwnerFiles,
	}
	for i, host := range t.Hosts {
		if slices.Contains(t.Hosts[:i], host) {
			r.fail([]string{"hosts", strconv.Itoa(i)}, "%s is here twice: remove one", host)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Providers)) {
		t.Providers = append(t.Providers, r.provider(name, f.Providers[name]))
	}
	r.roles(t, f.Roles)
	r.checkRoles(f.Auth.Anonymous, f.Roles, "auth", "anonymous")
	for i := range f.Auth.Issuers {
		t.Issuers = append(t.Issuers, r.issuer(i, &f.Auth.Issuers[i], f.Roles))
	}
	if len(t.Issuers) > 0 && r.url == "" {
		r.fail([]string{"auth", "issuers"}, "tokens are for the URL of an endpoint, which is not known: add public_url to serve.yaml")
	}
	r.checkIntrospection(t)
	t.Certificates = r.certificates(f.Auth.MTLS, f.Roles)
	return t
}

func (r *tenantReader) provider(name string, f providerFile) Provider {
	at := func(key string) []string { return []string{"providers", name, key} }
	p := Provider{Name: name, Module: f.Module, Digest: f.Digest, Prefixes: f.Prefixes, PassPrincipal: f.Principal, RecordCrashes: f.RecordCrashes, Engine: f.Engine, Shadow: f.Shadow}
	switch layout, isLayout := strings.CutPrefix(f.Module, "oci-layout:"); {
	case f.Module == "" && f.Digest != "":
		r.fail(at("digest"), "a provider without module is deployed, and its versions have digests of their own: remove digest, or add module")
	case f.Module == "":
	case isLayout && !filepath.IsAbs(layout):
		p.Module = "oci-layout:" + filepath.Join(r.folder, layout)
	case !registry.LooksLikeReference(f.Module):
		p.Module = r.path(f.Module)
		if err := r.hasFile(p.Module); err != nil {
			r.missing = append(r.missing, p.Module)
			r.fail(at("module"), "there is no module %s: %v: copy it there, or change the path", f.Module, err)
		}
	}
	switch {
	case f.Policy != "" && f.Permissions != nil:
		r.fail(at("permissions"), "the provider has a policy already: remove policy or permissions")
	case f.Policy != "":
		p.Policy = r.policy(at("policy"), f.Policy)
	case f.Permissions != nil:
		p.Policy = *(*policy.Policy)(f.Permissions).Under(r.folder)
	}
	if f.Description != "" {
		p.Policy.Description = f.Description
	}
	p.Engine, p.Policy.Engine = cmp.Or(p.Engine, p.Policy.Engine), ""
	return p
}

// policy reads a policy file, which the value at a path of keys names.
func (r *tenantReader) policy(at []string, name string) policy.Policy {
	file := r.policies(r.path(name))
	r.used = append(r.used, file)
	if file.err == nil && file.policy != nil {
		return *file.policy
	}
	if file.err == nil {
		r.fail(at, "%s has certificates, and no policy", name)
		return policy.Policy{}
	}
	if found := strict.ProblemsOf(file.err); len(found) > 0 {
		r.problems = append(r.problems, found[:min(len(found), maxProblems-min(maxProblems, len(r.problems)))]...)
	} else {
		r.fail(at, "the policy cannot be read: %v", file.err)
	}
	return policy.Policy{}
}

func (r *tenantReader) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(r.folder, name)
}

// roles sets the roles of t. Each has its own rules, and those of the roles that it uses, once.
func (r *tenantReader) roles(t *Tenant, files map[string][]ruleFile) {
	providers := func(yield func(string) bool) {
		for _, p := range t.Providers {
			if !yield(p.Name) {
				return
			}
		}
	}
	own := make(map[string][]Rule, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for i, f := range files[name] {
			at := []string{"roles", name, strconv.Itoa(i)}
			if _, ok := files[f.Use]; f.Use != "" && !ok {
				r.failName(append(at, "use"), "role", f.Use, maps.Keys(files))
			}
			for j, provider := range f.Providers {
				if !slices.ContainsFunc(t.Providers, func(p Provider) bool { return p.Name == provider }) {
					r.failName(append(at, "providers", strconv.Itoa(j)), "provider", provider, providers)
				}
			}
			if f.Use == "" {
				own[name] = append(own[name], f.rule())
			}
		}
	}
	if len(r.problems) > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if cycle := r.cycle(files, name); cycle != nil {
			r.fail([]string{"roles", name}, "the role uses itself: %s: remove one of these", strings.Join(cycle, " uses "))
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		rules := expand(files, own, name)
		if len(rules) > maxRules {
			r.fail([]string{"roles", name}, "the role has %d rules, with those of the roles that it uses: at most %d are allowed", len(rules), maxRules)
			return
		}
		t.Roles = append(t.Roles, Role{Name: name, Rules: rules})
	}
}

func (f *ruleFile) rule() Rule {
	r := Rule{Actions: f.Do, URIs: f.URIs, Providers: f.Providers, Scope: f.Scope}
	if len(r.Actions) == 0 {
		r.Actions = slices.Clone(actions)
	}
	return r
}

// cycle returns the roles by which a role uses itself, from it to it; nil if it does not.
func (r *tenantReader) cycle(files map[string][]ruleFile, name string) []string {
	seen := map[string]bool{}
	var visit func(path []string) []string
	visit = func(path []string) []string {
		for _, f := range files[path[len(path)-1]] {
			switch {
			case f.Use == "":
			case f.Use == name:
				return append(path, name)
			case !seen[f.Use]:
				seen[f.Use] = true
				if found := visit(append(path, f.Use)); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return visit([]string{name})
}

// expand returns the rules of a role, and of all that it uses, each once.
func expand(files map[string][]ruleFile, own map[string][]Rule, name string) []Rule {
	order, seen := []string{name}, map[string]bool{name: true}
	rules := []Rule{}
	for i := 0; i < len(order); i++ {
		rules = append(rules, own[order[i]]...)
		for _, f := range files[order[i]] {
			if f.Use != "" && !seen[f.Use] {
				seen[f.Use] = true
				order = append(order, f.Use)
			}
		}
	}
	return rules
}

// A document is a file that is read, and its problems.
type document struct {
	name     string // absolute path
	skip     int    // how many keys lead to root in the file that it is a part of
	root     strict.Node
	problems strict.Problems
}

// maxProblems bounds the problems of one file.
const maxProblems = 50

// decode reads text, and reports false when there are problems.
func (d *document) decode(text []byte, into any) bool {
	root, err := format.DecodeNode(d.name, text, into)
	d.root, d.problems = root, strict.ProblemsOf(err)
	return err == nil
}

// fail adds a problem with the value at the end of a path of keys.
func (d *document) fail(at []string, text string, args ...any) {
	if len(d.problems) < maxProblems {
		n := d.root.At(at[min(d.skip, len(at)):]...)
		d.problems = append(d.problems, strict.Problem{File: d.name, Line: n.Line, Column: n.Column, Text: fmt.Sprintf(text, args...)})
	}
}

// failName adds the problem that there is no object of a name.
func (d *document) failName(at []string, what, name string, known func(func(string) bool)) {
	names := slices.Sorted(known)
	if len(names) == 0 {
		d.fail(at, "there is no %s %q, as there are none: add it, or remove the name", what, strict.Clip(name))
		return
	}
	_, err := strict.Word(what, name, names)
	d.fail(at, "%v", err)
}

// isFile says why there is no file of this name; nil if there is one.
func isFile(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return reason(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	return nil
}

// reason returns err without the path of the file, which the caller names.
func reason(err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
