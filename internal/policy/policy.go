package policy

import (
	"path/filepath"
	"time"
)

// A Policy is what a provider may touch and use. What is absent is denied; a limit that is absent is the host's.
type Policy struct {
	Description string
	// Engine compiles and runs the provider: one of the names of package enginename, of which a program may lack some; empty for the
	// default. It grants nothing.
	Engine string `json:",omitempty"`

	Storage     []Storage
	Network     []Network
	Environment []string          // variables of the host's environment the provider may read
	Config      map[string]string // values handed over to the provider
	Secrets     []Secret
	KV          *KV // nil when no key-value store is granted
	SQL         []SQL
	Limits      Limits
}

// Storage grants a folder of the host.
type Storage struct {
	// Host is the folder; empty in a request, since a provider does not know it.
	Host string `yaml:"uri,required" check:"storage URI" doc:"the folder with all below it, as fs:///srv/data/**; without a third slash it is taken from the folder of this file"`
	// Guest is an absolute clean slash-separated path; empty in a request that names none.
	Guest  string `yaml:"guest" check:"guest path" doc:"the absolute path at which the provider sees it; default: that of the URI"`
	Access Access `yaml:"access,required,nonempty" check:"access" doc:"what the provider may do"`
	// How much may be there, by what the provider writes, beyond what was there when it was loaded. Zero is the
	// default; in a request, it leaves the bound open. Without Write both are zero.
	MaxBytes uint64 `yaml:"max_bytes" check:"size" doc:"how many bytes the provider may add; default: 256Mi"`
	MaxFiles uint64 `yaml:"max_files" check:"count" doc:"how many files and folders the provider may add; default: 10000"`
}

// Defaults of Storage.
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxFiles = 10_000 // files and folders
)

// Access is a set of bits: what a provider may do with files.
type Access uint8

// The bits of Access.
const (
	Read  Access = 1 << iota // read files and folders
	Write                    // write and remove them
)

// Network grants requests to servers. An empty list is the default that its description names.
type Network struct {
	// Host is empty in a request that names none.
	Host    string   `yaml:"host,required" check:"host" doc:"a name, *.example.org for all names below it, or an address"`
	Schemes []string `yaml:"schemes,nonempty" check:"scheme" doc:"default: https"`
	Ports   []uint16 `yaml:"ports,nonempty" check:"port" doc:"default: the port of the scheme"`
	Methods []string `yaml:"methods,nonempty" check:"method" doc:"default: GET and HEAD"`
	// A path without * matches itself and all paths below. In others * matches a segment, and a last ** all paths
	// below.
	Paths   []string `yaml:"paths,nonempty" check:"path" doc:"as /v1, which includes all paths below it, or /v1/*/profile; default: every path"`
	Private bool     `yaml:"private" doc:"whether the host may have an address of a private network or of this machine"`
	Secrets []string `yaml:"secrets,nonempty" check:"name" doc:"names of the secrets that requests may carry"`
}

// A Secret is a value that requests of the provider may carry, and that the guest never sees. Exactly one source is
// set.
type Secret struct {
	Name    string `yaml:"name,required" check:"name" doc:"its name in rules and for the provider"`
	Env     string `yaml:"env" check:"variable" doc:"the variable of the host's environment that contains it"`
	File    string `yaml:"file" check:"host path" doc:"the file that contains it"`
	Keyring string `yaml:"keyring" check:"keyring" doc:"its entry in the system's keyring, as SERVICE/USER"`
	Sealed  string `yaml:"sealed" check:"name" doc:"the secret of this name that wasmres serve keeps sealed for the tenant"`
}

// KV grants a key-value store of the provider's own. Zero fields are the host's defaults.
type KV struct {
	Namespace string `yaml:"namespace" check:"name" doc:"the name of the store; default: one of the provider's own"`
	MaxBytes  uint64 `yaml:"max_bytes" check:"size" doc:"of all keys and values"`
	MaxKeys   uint64 `yaml:"max_keys" check:"count" doc:"how many keys there may be"`
	MaxValue  uint64 `yaml:"max_value" check:"size" doc:"the size of one value"`
	ReadOnly  bool   `yaml:"read_only" doc:"whether the provider can only read values, and neither put nor delete them"`
}

// SQL grants reading from a database by a connection with a name. Exactly one of the four sources is set; in a
// request, none. Zero limits are the host's defaults.
type SQL struct {
	Name       string        `yaml:"name,required" check:"name" doc:"the name of the connection for the provider"`
	DSNEnv     string        `yaml:"dsn_env" check:"variable" doc:"the variable of the host's environment that contains the data source name"`
	DSNFile    string        `yaml:"dsn_file" check:"host path" doc:"the file that contains the data source name"`
	DSN        string        `yaml:"dsn" check:"dsn" doc:"the data source name itself, without a password"`
	DSNSealed  string        `yaml:"dsn_sealed" check:"name" doc:"the secret of this name that wasmres serve keeps sealed for the tenant, which is the data source name of a server"`
	Private    bool          `yaml:"private" doc:"for dsn_sealed: whether the server may have an address of a private network or of this machine"`
	Timeout    time.Duration `yaml:"timeout" check:"duration" doc:"of one statement"`
	MaxRows    uint64        `yaml:"max_rows" check:"count" doc:"of one statement"`
	MaxBytes   uint64        `yaml:"max_bytes" check:"size" doc:"of the rows of one statement"`
	Privileged bool          `yaml:"privileged" doc:"whether the role may be able to write in spite of a read-only transaction"`
}

// Limits bound the resources of the provider. Zero is the host's default.
type Limits struct {
	MilliCPU uint32        `yaml:"cpu" check:"cpu" doc:"processors that all calls together may use, in the long run"`
	Memory   uint64        `yaml:"memory" check:"size" doc:"linear memory of one instance"` // hosts round down to pages of 64 KiB
	Fuel     uint64        `yaml:"fuel" check:"count" doc:"instructions of one call"`
	Timeout  time.Duration `yaml:"timeout" check:"duration" doc:"wall-clock time of one call"`
	Output   uint64        `yaml:"output" check:"size" doc:"contents of one read"`
	Stack    uint64        `yaml:"stack" check:"size" doc:"native stack of one call"`
	Log      uint64        `yaml:"log" check:"size" doc:"bytes logged in one call"`
}

// Empty reports whether p grants no capability. It may have configuration and limits.
func (p *Policy) Empty() bool {
	return len(p.Storage)+len(p.Network)+len(p.Environment)+len(p.Secrets)+len(p.SQL) == 0 && p.KV == nil
}

// Under returns a copy of p with its relative host paths joined to dir.
func (p *Policy) Under(dir string) *Policy {
	from := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	under := p.clone()
	for i := range under.Storage {
		under.Storage[i].Host = from(under.Storage[i].Host)
	}
	for i := range under.Secrets {
		under.Secrets[i].File = from(under.Secrets[i].File)
	}
	for i := range under.SQL {
		s := &under.SQL[i]
		s.DSNFile = from(s.DSNFile)
		if file, ok := sqliteFile(s.DSN); ok {
			s.DSN = sqliteScheme + from(file)
		}
	}
	return under
}
