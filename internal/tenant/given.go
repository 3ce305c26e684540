package tenant

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
)

// FilesDir returns the folder of the server's data below which a tenant has its own files.
func FilesDir(data, tenantID string) string { return filepath.Join(data, "tenants", tenantID, "files") }

// CheckHosted returns an error that says in words what a policy permits beyond what a person who administers one tenant may
// permit: folders and databases below files, secrets and data source names that the server keeps sealed, and servers with public
// addresses. What is of the whole machine, only a file of the operator can grant.
func CheckHosted(p *policy.Policy, files string) error {
	var beyond []string
	add := func(format string, args ...any) { beyond = append(beyond, fmt.Sprintf(format, args...)) }
	for i := range p.Storage {
		if dir := p.Storage[i].Host; !isBelow(files, dir) {
			add("the folder %s is not below %s", strict.Clip(dir), files)
		}
	}
	for i := range p.Network {
		if p.Network[i].Private {
			add("private networks, by the rule for %s", p.Network[i].Host)
		}
	}
	for _, name := range p.Environment {
		add("the variable %s of the server's environment", name)
	}
	for i := range p.Secrets {
		if s := &p.Secrets[i]; cmp.Or(s.Env, s.File, s.Keyring) != "" {
			add("the secret %s of the server's environment, files or keyring", s.Name)
		}
	}
	for i := range p.SQL {
		s := &p.SQL[i]
		file, isFile := strings.CutPrefix(s.DSN, "sqlite:")
		if s.DSNEnv != "" || s.DSNFile != "" || s.DSN != "" && !(isFile && isBelow(files, file)) {
			add("the connection %s, which is no database below %s", s.Name, files)
		}
		if s.Private {
			add("private networks, for the connection %s", s.Name)
		}
	}
	if len(beyond) == 0 {
		return nil
	}
	slices.Sort(beyond)
	return fmt.Errorf("the policy permits what only a file of the operator can grant: %s: remove it from the policy", strings.Join(beyond, "; "))
}

// isBelow reports whether a clean absolute path is that of a folder, or below it.
func isBelow(folder, path string) bool {
	rest, found := strings.CutPrefix(path, folder)
	return found && filepath.Clean(path) == path && (rest == "" || rest[0] == filepath.Separator)
}

// A Given is what objects with the owner OwnerAPI are checked against.
type Given struct {
	Settings *Settings
	Now      *Snapshot
}

// Tenant reads a tenant, as its file would be, from YAML or JSON. The error is [strict.Problems]; its places are in text.
func (g *Given) Tenant(id string, text []byte) (*Tenant, error) {
	r := g.reader(id, 0)
	t := r.read(id, text)
	return g.finish(r, t)
}

// Provider reads a provider, as the file of a tenant has it after its name, and returns the tenant with it.
func (g *Given) Provider(of *Tenant, name string, text []byte) (*Tenant, error) {
	r := g.reader(of.ID, 2)
	var f providerFile
	if _, err := objectName(name); err != nil {
		return nil, strict.Problems{{File: r.name, Text: err.Error()}}
	}
	if !r.decode(text, &f) {
		return nil, r.problems
	}
	next := *of
	next.Providers = slices.DeleteFunc(slices.Clone(of.Providers), func(p Provider) bool { return p.Name == name })
	next.Providers = append(next.Providers, r.provider(name, f))
	slices.SortFunc(next.Providers, func(a, b Provider) int { return strings.Compare(a.Name, b.Name) })
	return g.finish(r, &next)
}

// WithoutProvider returns a tenant without one of its providers. Roles that name it must not remain.
func (g *Given) WithoutProvider(of *Tenant, name string) (*Tenant, error) {
	next := *of
	next.Providers = slices.DeleteFunc(slices.Clone(of.Providers), func(p Provider) bool { return p.Name == name })
	for _, role := range of.Roles {
		for _, rule := range role.Rules {
			if slices.Contains(rule.Providers, name) {
				return nil, fmt.Errorf("the role %s names the provider %s: change the role first", role.Name, name)
			}
		}
	}
	return &next, nil
}

func (g *Given) reader(id string, skip int) *tenantReader {
	return &tenantReader{
		url:      g.Settings.ServerURL(),
		document: document{name: "the body", skip: skip}, folder: FilesDir(g.Settings.Data, id),
		policies: func(string) *policyFile {
			return &policyFile{err: errors.New("only the file of a tenant can name another file: write permissions in place of policy, and the text of certificates in ca")}
		},
		hasFile: func(string) error {
			return errors.New("only the file of a tenant can name a file: push the module, or write its reference")
		},
	}
}

// finish checks a tenant as those of files are checked, and as only those of the API are.
func (g *Given) finish(r *tenantReader, t *Tenant) (*Tenant, error) {
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	t.Owner = OwnerAPI
	reserved := reservedHosts(g.Settings)
	for i, host := range t.Hosts {
		at := []string{"hosts", fmt.Sprint(i)}
		if slices.Contains(reserved, host) {
			r.fail(at, "the host %s is one by which clients reach all tenants: leave it out", host)
		}
		if other := g.Now.Hosts[host]; other != nil && other.ID != t.ID {
			r.fail(at, "the host %s %s", host, ofTenant(other.ID))
		}
	}
	plan := g.Now.Plans[cmp.Or(t.Plan, DefaultPlan)]
	if plan == nil {
		_, err := strict.Word("plan", t.Plan, slices.Sorted(maps.Keys(g.Now.Plans)))
		r.fail([]string{"plan"}, "%v", err)
	}
	for i := range t.Issuers {
		if t.Issuers[i].Insecure {
			r.fail([]string{"auth", "issuers", fmt.Sprint(i), "insecure"}, "only the file of a tenant can permit HTTP: leave it out")
		}
	}
	for i := range t.Providers {
		p := &t.Providers[i]
		at := []string{"providers", p.Name, "permissions"}
		if err := CheckHosted(&p.Policy, FilesDir(g.Settings.Data, t.ID)); err != nil {
			r.fail(at, "%v", err)
		}
		if strings.HasPrefix(p.Module, "oci-layout:") {
			r.fail([]string{"providers", p.Name, "module"}, "only the file of a tenant can name a folder: push the module, or write its reference in a registry")
		}
		for field, isSet := range map[string]bool{"engine": p.Engine != "", "shadow": p.Shadow != 0} {
			if isSet {
				r.fail([]string{"providers", p.Name, field}, "only the file of a tenant and a plan can choose engines: leave it out")
			}
		}
		if plan == nil {
			continue
		}
		if err := plan.Permits(&p.Policy); err != nil {
			r.fail(at, "%v", err)
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return t, nil
}

// Plan reads a plan, as serve.yaml has it after its name. All tenants with the plan must be within it.
func (g *Given) Plan(name string, text []byte) (*Plan, error) {
	r := &settingsReader{document: document{name: "the body", skip: 2}, folder: filepath.Dir(g.Settings.Data)}
	var f planFile
	if _, err := objectName(name); err != nil {
		return nil, strict.Problems{{File: r.name, Text: err.Error()}}
	}
	if !r.decode(text, &f) {
		return nil, r.problems
	}
	if f.Ceiling != "" {
		r.fail([]string{"plans", name, "ceiling"}, "only serve.yaml can name another file: write permissions in place of ceiling")
		return nil, r.problems
	}
	p := r.plan(name, f)
	p.Owner = OwnerAPI
	for _, id := range slices.Sorted(maps.Keys(g.Now.Tenants)) {
		t := g.Now.Tenants[id]
		if cmp.Or(t.Plan, DefaultPlan) != name {
			continue
		}
		for i := range t.Providers {
			if err := p.Permits(&t.Providers[i].Policy); err != nil {
				r.fail(nil, "the provider %s of the tenant %s: %v", t.Providers[i].Name, id, err)
			}
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return p, nil
}

// Encode returns a plan as serve.yaml has it after its name, with its ceiling in it.
func (p *Plan) Encode() []byte {
	rateOf := func(r Rate) rateFile { return rateFile{r.PerSecond, r.Burst} }
	f := planFile{
		Requests: rateOf(p.Requests), PrincipalRequests: rateOf(p.PrincipalRequests), ProviderRequests: rateOf(p.ProviderRequests), Concurrent: p.Concurrent, Weight: p.Weight,
		Subscriptions: streamsFile{p.Streams, p.PrincipalStreams}, Sessions: p.Sessions, PrincipalSessions: p.PrincipalSessions, BytesOut: bytesFile{p.BytesPerSecond, p.BytesPerDay},
		CPU: cpuFile{p.CPUPerDay}, Live: liveFile{p.LiveProviders, p.LiveMemory, p.StartsPerMinute}, Storage: storageFile{p.Modules}, Limits: p.Limits,
		LogFiles: p.LogBytes, Audit: planAuditFile{p.AuditReads}, CrashURIs: p.CrashURIs, Engine: p.Engine, Shadow: p.Shadow,
	}
	if p.Ceiling != nil {
		f.Permissions = (*policy.Permissions)(p.Ceiling)
	}
	if text := format.Encode(f); len(text) > 0 {
		return text
	}
	return []byte("{}\n")
}
