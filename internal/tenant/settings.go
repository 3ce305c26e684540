package tenant

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
)

// Settings are what serve.yaml says of a server. They are complete: what the file leaves out has its default. Paths are
// absolute.
type Settings struct {
	Listen []Listener // at least one
	// PublicURL is how clients reach the server, without a path and a slash at its end; empty for the first address of Listen.
	PublicURL string
	// AllowedHosts are further names by which clients may reach all tenants, by their paths, in lower case.
	AllowedHosts []string
	// TrustedProxies are the networks of proxies that say for which client they pass a request on.
	TrustedProxies []netip.Prefix

	Data    string // folder of the server's own files
	Tenants string // folder of the files of tenants
	Admin   Admin
	Watch   bool // read files again when they change; default true

	Idle           time.Duration // after which a provider without calls loses its process; default 5 min
	LiveMemory     int64         // bytes of all processes of providers, beyond which no other starts; 0 for three quarters of what is free at the start
	StandbyWorkers int           // started processes without a provider, at least 1; default 2
	Processors     Processors

	Plans map[string]*Plan // by name; there is one named default

	AuditStrict bool // refuse calls of clients while the ledger cannot be written

	Registries Registries

	SecretsKey string // file of the keys of secrets; empty for none, or a credential of systemd

	AccessLog AccessLog
	Traces    Traces
	LogJSON   bool // log JSON instead of text

	// Files are the absolute paths of what the settings were read from: serve.yaml, if there is one, then those of ceilings,
	// sorted.
	Files []string
	// Digest is the SHA-256, in hex, of Files and what is in them. Equal digests are equal settings.
	Digest string
}

// ServerURL returns PublicURL, or else the URL of the first address of Listen; empty if that does not say by which name clients
// reach the server.
func (s *Settings) ServerURL() string {
	if s.PublicURL != "" || len(s.Listen) == 0 {
		return s.PublicURL
	}
	l := &s.Listen[0]
	host, port, err := net.SplitHostPort(l.Address)
	if ip, bad := netip.ParseAddr(host); err != nil || host == "" || port == "0" || bad == nil && ip.IsUnspecified() {
		return ""
	}
	if l.IsTLS() {
		return "https://" + l.Address
	}
	return "http://" + l.Address
}

// Processors bounds the calls that run and those that wait for a processor. Zero fields are the defaults of
// [runtime.ProcessorsConfig].
type Processors struct {
	Calls            int // of all tenants that run at once, at most 4,096
	Waiting          int // of all tenants
	WaitingPerTenant int
}

// Registries say which registries references of the API may name.
type Registries struct {
	Allow       []string // registries and networks that may be named though their addresses are not public
	Credentials []string // registries to which the server logs in with its own credentials
}

// A Listener is an address on which clients are served.
type Listener struct {
	Address   string // as in 127.0.0.1:8080, or :8443 for all networks
	Cert, Key string // PEM files, for HTTPS; both empty for HTTP
	// Certificates are further ones, each for the names that it has.
	Certificates []KeyPair
	ACME         *ACME // gets the certificates, in place of files; nil for none
}

// IsTLS reports whether the listener serves HTTPS.
func (l *Listener) IsTLS() bool { return l.Cert != "" || l.ACME != nil }

// An ACME says from which authority a server gets its certificates. All listeners of a server have the same, or none.
type ACME struct {
	Directory string // URL; empty for that of Let's Encrypt
	CAFile    string // PEM file of the authorities of Directory's own certificate; empty for those of the system
	Email     string // for the account; empty for none
	HTTP      string // address at which the authority may look at the server over HTTP; empty for none
	// Hosts are the names of the server, beside those of tenants. Empty are those of PublicURL and AllowedHosts.
	Hosts []string
}

// ACME returns how the server gets its certificates; nil for files alone.
func (s *Settings) ACME() *ACME {
	for _, l := range s.Listen {
		if l.ACME != nil {
			return l.ACME
		}
	}
	return nil
}

// CertificateHosts returns the names for which ACME has certificates while the server has the tenants of a snapshot: those of the
// server, then those of tenants, sorted. It is empty without ACME.
func (s *Settings) CertificateHosts(now *Snapshot) (names []string) {
	a := s.ACME()
	if a == nil {
		return nil
	}
	names = slices.Clone(a.Hosts)
	if len(names) == 0 {
		if u, err := url.Parse(s.PublicURL); err == nil {
			if name, err := hostName(u.Hostname()); err == nil {
				names = append(names, name)
			}
		}
		names = append(names, s.AllowedHosts...)
	}
	for _, host := range slices.Sorted(maps.Keys(now.Hosts)) {
		if !now.Hosts[host].Disabled {
			names = append(names, host)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// A KeyPair names the PEM files of a certificate and its key.
type KeyPair struct{ Cert, Key string }

// Admin says where operators reach the server.
type Admin struct {
	Socket string    // path of a Unix socket; default admin.sock in Data
	Listen string    // address for /healthz, /readyz and /metrics; empty for none
	TLS    *AdminTLS // where operators reach the API from other machines; nil for nowhere
}

// AdminTLS is an address of the API.
type AdminTLS struct {
	Address   string
	Cert, Key string // PEM files
	// ClientCA is a PEM file with the authorities of clients, each of which must have a certificate then; empty for none.
	ClientCA string
	Clients  []AdminClient // whose certificates say who they are
}

// An AdminClient is what the certificate of a client permits.
type AdminClient struct {
	Name   string // a URI, DNS name or, for want of these, the common name of the certificate
	Role   string
	Tenant string // the only one; empty for all
}

// AdminRoles are what may be the role of a person or program that administers a server.
var AdminRoles = []string{"operator", "tenant-admin", "deployer", "auditor"}

// Traces says which collector of OpenTelemetry gets traces.
type Traces struct {
	Endpoint string  // URL; empty for no traces
	Headers  string  // path of a file with headers for the collector; empty for none
	Sample   float64 // share of requests that are traced though their clients have no trace
}

// AccessLog says where a line for each request goes.
type AccessLog struct {
	File   string // path, or stderr; empty for no access log
	Format accesslog.Format
	Size   int64 // bytes after which a file is renamed; default 100 MiB
	Keep   int   // how many older files are kept; default 5
}
