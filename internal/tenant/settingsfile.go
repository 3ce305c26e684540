package tenant

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/limits"
)

// What serve.yaml contains.
type (
	settingsFile struct {
		Schema       string              `yaml:"$schema" doc:"where editors find the schema of this file; without effect"`
		Listen       []listenerFile      `yaml:"listen,nonempty" unique:"Address" doc:"the addresses on which clients are served; default: 127.0.0.1:8080"`
		PublicURL    string              `yaml:"public_url" check:"public URL" doc:"how clients reach the server, as https://mcp.example.com; default: the first address"`
		AllowedHosts []string            `yaml:"allowed_hosts" check:"host name" doc:"further names by which clients may reach all tenants, beside those of public_url and the addresses"`
		Proxies      []string            `yaml:"trusted_proxies" check:"network" doc:"addresses and networks of proxies whose headers Forwarded and X-Forwarded-For say which client sent a request, as 10.0.0.0/8; default: none"`
		Data         string              `yaml:"data" check:"host path" doc:"the folder of the server's own files; default: data"`
		Tenants      string              `yaml:"tenants" check:"host path" doc:"the folder of the files of tenants; default: tenants"`
		Admin        adminFile           `yaml:"admin" doc:"where operators reach the server"`
		Watch        *bool               `yaml:"watch" doc:"whether files are read again when they change; default: true"`
		Idle         time.Duration       `yaml:"idle" check:"duration" doc:"after which a provider without calls loses its process; default: 5m"`
		Memory       memoryFile          `yaml:"memory" doc:"what all providers together may use"`
		Standby      int                 `yaml:"standby_workers" check:"number" doc:"started processes without a provider, which make the first call of one quick; default: 2"`
		Processors   processorsFile      `yaml:"processors" doc:"how calls share the processors"`
		Plans        map[string]planFile `yaml:"plans" keys:"object name" doc:"what tenants may use, by the names that their files have; default is the plan of tenants that name none"`
		Registries   registriesFile      `yaml:"registries" doc:"where modules are that are named by references"`
		Secrets      secretsFile         `yaml:"secrets" doc:"what tenants keep sealed"`
		Audit        auditFile           `yaml:"audit" doc:"the ledger"`
		AccessLog    accessLogFile       `yaml:"access_log" doc:"a line for each request"`
		Traces       tracesFile          `yaml:"traces" doc:"a collector of OpenTelemetry that gets traces of requests; default: none"`
		LogFormat    string              `yaml:"log_format" check:"log format" doc:"of the server's own log: text or json; default: text"`
	}
	listenerFile struct {
		Address  string   `yaml:"address,required" check:"address" doc:"a host and a port, as 127.0.0.1:8080, or :8443 for all networks"`
		TLS      *tlsFile `yaml:"tls" doc:"serves HTTPS; default: HTTP"`
		Insecure bool     `yaml:"insecure" doc:"whether HTTP may be served to other machines, as behind a proxy that speaks HTTPS"`
	}
	tlsFile struct {
		Cert string `yaml:"cert" check:"host path" doc:"the PEM file of the certificate; it is read again when it changes"`
		Key  string `yaml:"key" check:"host path" doc:"the PEM file of its key"`

		ACME *acmeFile `yaml:"acme" doc:"gets the certificates of the server's hosts and of those of tenants from a certificate authority, and renews them, in place of cert and key"`

		Certificates []keyPairFile `yaml:"certificates,nonempty" unique:"Cert" doc:"further certificates, as of the hosts of tenants: a client sees the first that has the name by which it connects, otherwise that of cert"`
	}
	acmeFile struct {
		Agree     bool     `yaml:"agree,required" doc:"true: you have read the terms of the authority, and agree to them"`
		Email     string   `yaml:"email" check:"email" doc:"by which the authority may reach you; default: none"`
		Directory string   `yaml:"directory" check:"HTTPS URL" doc:"the URL of the authority's ACME directory; default: that of Let's Encrypt"`
		CAFile    string   `yaml:"ca_file" check:"host path" doc:"the PEM file of the authorities that sign the certificate of directory itself, as within a company; default: those of the system"`
		Hosts     []string `yaml:"hosts,nonempty" check:"host name" doc:"the names of the server, beside those of tenants; default: those of public_url and allowed_hosts"`
		HTTP      string   `yaml:"http" check:"address" doc:"an address, as :80, at which the authority may look at the server over HTTP; default: it looks by TLS alone, at port 443"`
	}
	keyPairFile struct {
		Cert string `yaml:"cert,required" check:"host path" doc:"the PEM file of the certificate; it is read again when it changes"`
		Key  string `yaml:"key,required" check:"host path" doc:"the PEM file of its key"`
	}
	adminFile struct {
		Socket string        `yaml:"socket" check:"host path" doc:"the Unix socket for wasmres tenant, key, top and reload; default: admin.sock in the data folder"`
		Listen string        `yaml:"listen" check:"address" doc:"the address of /healthz, /readyz and /metrics, which anyone who reaches it may ask; default: none"`
		TLS    *adminTLSFile `yaml:"tls" doc:"where operators reach the admin API from other machines, with an admin key or a certificate; default: nowhere"`
	}
	registriesFile struct {
		Allow       []string `yaml:"allow" check:"registry or network" doc:"registries, as registry.internal:5000, and networks, as 10.0.0.0/8, that references which the API is given may name though their addresses are not public; default: none"`
		Credentials []string `yaml:"credentials" check:"registry" doc:"registries, as registry.internal:5000, to which the server logs in with its own credentials, those of docker, for references which the API is given; default: none"`
	}
	secretsFile struct {
		Key string `yaml:"key" check:"host path" doc:"the file of the key by which secrets are sealed, which 'wasmres secret new-key' writes; default: the systemd credential wasmres-secrets.key, or none"`
	}
	auditFile struct {
		Strict bool `yaml:"strict" doc:"whether calls of clients are refused while the ledger cannot be written, rather than not recorded; default: false"`
	}
	planAuditFile struct {
		Reads bool `yaml:"reads" doc:"whether the ledger has an entry of each read; default: false"`
	}
	adminTLSFile struct {
		Address  string            `yaml:"address,required" check:"address" doc:"a host and a port, as :9443"`
		Cert     string            `yaml:"cert,required" check:"host path" doc:"the PEM file of the certificate; it is read again when it changes"`
		Key      string            `yaml:"key,required" check:"host path" doc:"the PEM file of its key"`
		ClientCA string            `yaml:"client_ca" check:"host path" doc:"the PEM file of the authorities of clients; with it, each client needs a certificate"`
		Clients  []adminClientFile `yaml:"clients,nonempty" unique:"Name" doc:"clients whose certificates do without an admin key"`
	}
	adminClientFile struct {
		Name   string `yaml:"name,required" check:"line" doc:"a URI or DNS name of the certificate, or its common name if it has neither"`
		Role   string `yaml:"role,required" check:"admin role" doc:"operator, tenant-admin, deployer or auditor"`
		Tenant string `yaml:"tenant" check:"tenant" doc:"the only tenant that the client may use; a tenant-admin needs one"`
	}
	memoryFile struct {
		Live int64 `yaml:"live" check:"size" doc:"bytes of the processes of providers, beyond which no other starts; default: three quarters of what is free at the start"`
	}
	processorsFile struct {
		Calls            int `yaml:"calls" check:"number" doc:"that run at once, of all tenants; the next ones wait for a processor, by the weights of their plans; default: twice as many as there are processors"`
		Waiting          int `yaml:"waiting" check:"number" doc:"calls of all tenants that may wait for a processor; default: 4096"`
		WaitingPerTenant int `yaml:"waiting_per_tenant" check:"number" doc:"calls of each tenant that may wait for a processor; default: 64"`
	}
	accessLogFile struct {
		File   string `yaml:"file" check:"host path" doc:"the file, or stderr; default: no access log"`
		Format string `yaml:"format" check:"log format" doc:"text or json; default: text"`
		Size   int64  `yaml:"size" check:"size" doc:"after which the file is renamed; default: 100Mi"`
		Keep   int    `yaml:"keep" check:"number" doc:"how many older files are kept; default: 5"`
	}
	tracesFile struct {
		Endpoint string `yaml:"endpoint,required" check:"collector" doc:"the URL of the collector, for OTLP over HTTP; without a path it is /v1/traces"`
		Headers  string `yaml:"headers" check:"host path" doc:"a file with headers for the collector, one on each line as Authorization: Bearer TEXT, which no other user may read"`
		Sample   string `yaml:"sample" check:"share" doc:"of the requests whose clients have no trace, the share that is traced; default: 100%"`
	}
	planFile struct {
		Requests          rateFile      `yaml:"requests" doc:"of the whole tenant; default: 200/s, at most 400 at once"`
		PrincipalRequests rateFile      `yaml:"principal_requests" doc:"of each client; default: 50/s, at most 200 at once"`
		ProviderRequests  rateFile      `yaml:"provider_requests" doc:"of each provider; default: those of the tenant"`
		Concurrent        int           `yaml:"concurrent" check:"number" doc:"requests under way; default: 32"`
		Weight            int           `yaml:"weight" check:"number" doc:"of each tenant, 1 to 1000: while tenants want more than the processors can do, they get processor time in proportion; default: 1"`
		Subscriptions     streamsFile   `yaml:"subscriptions" doc:"streams of changes"`
		Sessions          int           `yaml:"sessions" check:"number" doc:"sessions of revisions before 2026-07-28; default: 500"`
		PrincipalSessions int           `yaml:"principal_sessions" check:"number" doc:"of each client; default: 50"`
		BytesOut          bytesFile     `yaml:"bytes_out" doc:"bytes of answers"`
		CPU               cpuFile       `yaml:"cpu" doc:"processor time of guests"`
		Live              liveFile      `yaml:"live" doc:"providers with a process"`
		Storage           storageFile   `yaml:"storage" doc:"what is stored"`
		Limits            policy.Limits `yaml:"limits" doc:"the most that a policy may set, and what it gets by default; default: those of the runtime"`
		LogFiles          int64         `yaml:"log_files" check:"size" doc:"bytes of the files of what guests log; default: 20Mi"`
		Audit             planAuditFile `yaml:"audit" doc:"what the ledger has of such tenants, beside changes"`
		CrashURIs         bool          `yaml:"crash_uris" doc:"whether reports of crashes have the URIs of the calls"`
		Engine            string        `yaml:"engine" check:"engine" doc:"runs the providers of such tenants: wazero, or wasmtime in a program that was built with it; default: wazero"`
		Shadow            int           `yaml:"shadow" check:"number" doc:"one of so many calls also runs on the other engine, in the background, where it must end in the same way; default: none"`
		Ceiling           string        `yaml:"ceiling" check:"host path" doc:"a policy file, from the folder of this file, that covers all that policies of such tenants may grant; default: no bound"`

		Permissions *policy.Permissions `yaml:"permissions" doc:"what policies of such tenants may grant at most, as in a policy file, in place of ceiling"`
	}
	rateFile struct {
		Rate  float64 `yaml:"rate" check:"rate" doc:"in the long run, as 50/s, 100/m or 1000/h"`
		Burst int     `yaml:"burst" check:"number" doc:"at once; default: those of two seconds"`
	}
	streamsFile struct {
		Streams      int `yaml:"streams" check:"number" doc:"of the tenant; default: 100"`
		PerPrincipal int `yaml:"per_principal" check:"number" doc:"of each client; default: 10"`
	}
	bytesFile struct {
		Rate   int64 `yaml:"rate" check:"byte rate" doc:"in the long run; default: 20Mi/s"`
		PerDay int64 `yaml:"per_day" check:"size" doc:"of a day in UTC; default: 100Gi"`
	}
	cpuFile struct {
		PerDay time.Duration `yaml:"per_day" check:"duration" doc:"of a day in UTC; default: 6h"`
	}
	liveFile struct {
		Providers int   `yaml:"providers" check:"number" doc:"at once; default: 8"`
		Memory    int64 `yaml:"memory" check:"size" doc:"what these may use of their own before another starts; default: 512Mi"`
		Starts    int   `yaml:"starts_per_minute" check:"number" doc:"of processes; default: 60"`
	}
	storageFile struct {
		Modules int64 `yaml:"modules" check:"size" doc:"bytes of the modules of all versions; default: 200Mi"`
	}
)

// SettingsSchema returns the JSON Schema of serve.yaml, for editors.
func SettingsSchema() []byte { return format.Schema(settingsFile{}, "settings of wasmres serve") }

// ReadSettings reads serve.yaml, with all that it names but the tenants. Relative paths in it are taken from its folder. Data
// is the folder of the server's own files where the file names none; empty for the folder data beside it. A file that does not exist is an error that is [fs.ErrNotExist]; [DefaultSettings] does without. All other errors are
// [strict.Problems].
func ReadSettings(file, data string) (*Settings, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	text, err := strict.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, strict.Problems{{File: file, Text: "the file cannot be read: " + reason(err).Error()}}
	}
	return parseSettings(file, data, text)
}

// DefaultSettings returns the settings of a server without serve.yaml, whose files are in a folder.
func DefaultSettings(data string) (*Settings, error) {
	data, err := filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	r := &settingsReader{folder: data, data: data}
	return r.settings(settingsFile{}), nil
}

// parseSettings reads the text of a file with this absolute path.
func parseSettings(file, data string, text []byte) (*Settings, error) {
	r := &settingsReader{document: document{name: file}, folder: filepath.Dir(file), data: cmp.Or(data, "data")}
	var f settingsFile
	if !r.decode(text, &f) {
		return nil, r.problems
	}
	s := r.settings(f)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	s.Files, s.Digest = combine(part{file, sha256.Sum256(text)}, r.ceilings)
	return s, nil
}

// A settingsReader makes Settings of a file.
type settingsReader struct {
	document
	folder   string // absolute, of relative paths
	data     string // default of the folder of data
	ceilings []part
}

func (r *settingsReader) settings(f settingsFile) *Settings {
	s := &Settings{
		PublicURL: f.PublicURL, AllowedHosts: f.AllowedHosts,
		Data: r.path(cmp.Or(f.Data, r.data)), Tenants: r.path(cmp.Or(f.Tenants, "tenants")),
		Admin: Admin{Listen: f.Admin.Listen}, Watch: f.Watch == nil || *f.Watch,
		Idle: cmp.Or(f.Idle, 5*time.Minute), LiveMemory: f.Memory.Live, StandbyWorkers: cmp.Or(f.Standby, 2), Processors: Processors(f.Processors), Plans: map[string]*Plan{},
		AccessLog: AccessLog{File: f.AccessLog.File, Size: cmp.Or(f.AccessLog.Size, 100<<20), Keep: cmp.Or(f.AccessLog.Keep, 5)},
		LogJSON:   f.LogFormat == "json",
	}
	for _, network := range f.Proxies {
		s.TrustedProxies = append(s.TrustedProxies, netip.MustParsePrefix(network)) // decode has checked it
	}
	if f.Processors.Calls > maxCalls {
		r.fail([]string{"processors", "calls"}, "%d is more than %d, the most calls that may run at once: set a smaller number", f.Processors.Calls, maxCalls)
	}
	s.Admin.TLS = r.adminTLS(f.Admin.TLS)
	s.AuditStrict = f.Audit.Strict
	s.Registries = Registries(f.Registries)
	if f.Secrets.Key != "" {
		s.SecretsKey = r.path(f.Secrets.Key)
		r.wantFile([]string{"secrets", "key"}, s.SecretsKey)
	}
	s.Admin.Socket = filepath.Join(s.Data, "admin.sock")
	if f.Admin.Socket != "" {
		s.Admin.Socket = r.path(f.Admin.Socket)
	}
	s.Traces = r.traces(&f.Traces)
	if f.AccessLog.Format == "json" {
		s.AccessLog.Format = accesslog.JSON
	}
	if s.AccessLog.File != "" && s.AccessLog.File != "stderr" {
		s.AccessLog.File = r.path(s.AccessLog.File)
	}
	for i := range f.Listen {
		s.Listen = append(s.Listen, r.listener([]string{"listen", strconv.Itoa(i)}, &f.Listen[i]))
	}
	r.checkACME(s.Listen)
	if len(s.Listen) == 0 {
		s.Listen = []Listener{{Address: "127.0.0.1:8080"}}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Plans)) {
		s.Plans[name] = r.plan(name, f.Plans[name])
	}
	if s.Plans[DefaultPlan] == nil {
		s.Plans[DefaultPlan] = &Plan{Name: DefaultPlan}
	}
	return s
}

func (r *settingsReader) traces(f *tracesFile) Traces {
	t := Traces{Endpoint: f.Endpoint}
	if f.Endpoint == "" {
		return t
	}
	t.Sample, _ = collector.ParseShare(cmp.Or(f.Sample, "100%")) // its rule has checked it
	if f.Headers != "" {
		t.Headers = r.path(f.Headers)
		r.wantFile([]string{"traces", "headers"}, t.Headers)
	}
	return t
}

func (r *settingsReader) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(r.folder, name)
}

func (r *settingsReader) listener(at []string, f *listenerFile) Listener {
	l := Listener{Address: f.Address}
	switch {
	case f.TLS != nil && f.TLS.ACME != nil:
		l.ACME = r.acme(append(at, "tls", "acme"), f.TLS.ACME)
	case f.TLS != nil:
		l.Cert, l.Key = r.path(f.TLS.Cert), r.path(f.TLS.Key)
		r.wantFile(append(at, "tls", "cert"), l.Cert)
		r.wantFile(append(at, "tls", "key"), l.Key)
		for i, f := range f.TLS.Certificates {
			pair := KeyPair{r.path(f.Cert), r.path(f.Key)}
			at := append(at, "tls", "certificates", strconv.Itoa(i))
			r.wantFile(append(at, "cert"), pair.Cert)
			r.wantFile(append(at, "key"), pair.Key)
			l.Certificates = append(l.Certificates, pair)
		}
	case !l.IsLoopback() && !f.Insecure:
		r.fail(append(at, "address"), "other machines reach %s, and API keys would be sent there unencrypted: add tls, "+
			"or insecure: true where a proxy in front of the server speaks HTTPS", f.Address)
	}
	return l
}

// Validate checks that there is one source of certificates.
func (f *tlsFile) Validate() error {
	hasFiles := f.Cert != "" || f.Key != ""
	switch {
	case f.ACME != nil && (hasFiles || len(f.Certificates) > 0):
		return errors.New("acme gets the certificates: remove it, or cert, key and certificates")
	case f.ACME == nil && (f.Cert == "" || f.Key == ""):
		return errors.New("a certificate is missing: add cert and key, or acme")
	}
	return nil
}

// Validate checks that the operator agrees.
func (f *acmeFile) Validate() error {
	if !f.Agree {
		return errors.New("the authority issues certificates only to operators that agree to its terms: write agree: true")
	}
	return nil
}

func (r *settingsReader) acme(at []string, f *acmeFile) *ACME {
	a := &ACME{Directory: f.Directory, Email: f.Email, HTTP: f.HTTP, Hosts: f.Hosts}
	if f.CAFile != "" {
		a.CAFile = r.path(f.CAFile)
		r.wantFile(append(at, "ca_file"), a.CAFile)
	}
	return a
}

// checkACME checks that all listeners with ACME have the same.
func (r *settingsReader) checkACME(all []Listener) {
	var first *ACME
	for i, l := range all {
		switch {
		case l.ACME == nil:
		case first == nil:
			first = l.ACME
		case !reflect.DeepEqual(first, l.ACME):
			r.fail([]string{"listen", strconv.Itoa(i), "tls", "acme"}, "another listener has another acme, and a server has one account: write the same")
		}
	}
}

// adminTLS reads where the API is served; nil for nowhere.
func (r *settingsReader) adminTLS(f *adminTLSFile) *AdminTLS {
	if f == nil {
		return nil
	}
	at := func(key string) []string { return []string{"admin", "tls", key} }
	t := &AdminTLS{Address: f.Address, Cert: r.path(f.Cert), Key: r.path(f.Key)}
	r.wantFile(at("cert"), t.Cert)
	r.wantFile(at("key"), t.Key)
	if f.ClientCA != "" {
		t.ClientCA = r.path(f.ClientCA)
		r.wantFile(at("client_ca"), t.ClientCA)
	} else if len(f.Clients) > 0 {
		r.fail(at("clients"), "clients have no certificates without client_ca: add it")
	}
	for _, c := range f.Clients {
		t.Clients = append(t.Clients, AdminClient(c))
	}
	return t
}

// Validate checks that the role fits the tenant.
func (f *adminClientFile) Validate() error { return CheckAdminRole(f.Role, f.Tenant) }

// CheckAdminRole says what is wrong with a role of a person or program that administers a server, of one tenant or, if it is
// empty, of all.
func CheckAdminRole(role, tenantID string) error {
	switch {
	case role == "operator" && tenantID != "":
		return errors.New("an operator is not of one tenant: leave tenant out, or choose another role")
	case role == "tenant-admin" && tenantID == "":
		return errors.New("a tenant-admin is of one tenant: name it")
	}
	_, err := strict.Word("role", role, AdminRoles)
	return err
}

// wantFile adds a problem if there is no file of a name.
func (r *settingsReader) wantFile(at []string, name string) {
	if err := isFile(name); err != nil {
		r.fail(at, "%s: %v: copy it there, or change the path", name, err)
	}
}

func (r *settingsReader) plan(name string, f planFile) *Plan {
	p := &Plan{
		Name: name, AuditReads: f.Audit.Reads, CrashURIs: f.CrashURIs, LogBytes: f.LogFiles, Requests: f.Requests.rate(), PrincipalRequests: f.PrincipalRequests.rate(), ProviderRequests: f.ProviderRequests.rate(),
		Concurrent: f.Concurrent, Weight: f.Weight, Streams: f.Subscriptions.Streams, PrincipalStreams: f.Subscriptions.PerPrincipal, Sessions: f.Sessions, PrincipalSessions: f.PrincipalSessions,
		BytesPerSecond: f.BytesOut.Rate, BytesPerDay: f.BytesOut.PerDay, CPUPerDay: f.CPU.PerDay,
		LiveProviders: f.Live.Providers, LiveMemory: f.Live.Memory, StartsPerMinute: f.Live.Starts, Modules: f.Storage.Modules, Limits: f.Limits, Engine: f.Engine, Shadow: f.Shadow,
	}
	if key, err := checkEngines(p.Engine, p.Shadow); err != nil {
		r.fail([]string{"plans", name, key}, "%v", err)
	}
	if f.Weight > maxWeight {
		r.fail([]string{"plans", name, "weight"}, "%d is more than %d, the greatest weight: set a smaller one", f.Weight, maxWeight)
	}
	if f.Limits.Memory > limits.MaxMemory {
		r.fail([]string{"plans", name, "limits", "memory"}, "at most %s are possible", policy.FormatSize(limits.MaxMemory))
	}
	if f.Limits.Stack > limits.MaxStack {
		r.fail([]string{"plans", name, "limits", "stack"}, "at most %s are possible", policy.FormatSize(limits.MaxStack))
	}
	at := []string{"plans", name, "permissions"}
	switch {
	case f.Ceiling != "" && f.Permissions != nil:
		r.fail(at, "the plan has a ceiling already: remove ceiling or permissions")
	case f.Ceiling != "":
		p.Ceiling = r.ceiling([]string{"plans", name, "ceiling"}, f.Ceiling)
	case f.Permissions != nil:
		p.Ceiling = r.ceilingOf(at, (*policy.Policy)(f.Permissions), r.folder)
	}
	return p
}

// ceilingOf returns what a policy bounds, whose relative paths are taken from a folder.
func (r *settingsReader) ceilingOf(at []string, p *policy.Policy, folder string) *policy.Policy {
	if p.Limits != (policy.Limits{}) {
		r.fail(at, "the ceiling has limits, which are those of the plan: move them to limits")
	}
	if p.Engine != "" {
		r.fail(at, "the ceiling has an engine, which is that of the plan: move it to engine")
	}
	return p.Under(folder)
}

// Validate checks that a burst has a rate.
func (f *rateFile) Validate() error {
	if f.Burst > 0 && f.Rate == 0 {
		return errors.New("burst bounds what comes at once, and the rate is missing: add rate, as 50/s")
	}
	return nil
}

// rate returns f as a Rate, whose burst is that of two seconds if f has none.
func (f *rateFile) rate() Rate {
	r := Rate{PerSecond: f.Rate, Burst: f.Burst}
	if r.PerSecond > 0 && r.Burst == 0 {
		r.Burst = max(1, int(min(2*r.PerSecond, maxNumber)))
	}
	return r
}

// ceiling reads the policy file that the value at a path of keys names.
func (r *settingsReader) ceiling(at []string, name string) *policy.Policy {
	path := r.path(name)
	info, err := os.Stat(path)
	if err != nil {
		r.fail(at, "the ceiling cannot be read: %v", err)
		return nil
	}
	text, _, err := readFile(info, func() (*os.File, error) { return os.OpenFile(path, openFlags, 0) })
	if err != nil {
		r.fail(at, "the ceiling cannot be read: %s: %v", path, reason(err))
		return nil
	}
	p, err := policy.Parse(path, text)
	if err != nil {
		r.problems = append(r.problems, strict.ProblemsOf(err)...)
		return nil
	}
	r.ceilings = append(r.ceilings, part{path, sha256.Sum256(text)})
	return r.ceilingOf(at, p, filepath.Dir(path))
}
