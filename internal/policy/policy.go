package policy

import (
	"path/filepath"
	"time"
)

// A Policy is what a provider may touch and use. What is absent is denied; a limit that is absent is the host's.
type Policy struct {
	Description string
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
	// Host is the folder; empty of what a provider asks for, which does not know.
	Host string `yaml:"uri,required" check:"storage URI" doc:"the folder with all below it, as fs:///srv/data/**; without a third slash it is taken from the folder of this file"`
	// Guest is an absolute clean slash-separated path; empty of an asking that names none.
	Guest  string `yaml:"guest" check:"guest path" doc:"the absolute path at which the provider sees it; else that of the URI"`
	Access Access `yaml:"access,required,nonempty" check:"access" doc:"what may be done"`
	// What may be there more, by what the provider writes, than when it was loaded. Zero is for the default, except of
	// an asking, which leaves it open. Without Write both are zero.
	MaxBytes uint64 `yaml:"max_bytes" check:"size" doc:"how much what is written may add; 256Mi when nothing is said"`
	MaxFiles uint64 `yaml:"max_files" check:"count" doc:"how many files and folders may be added; 10000 when nothing is said"`
}

// What a provider may add to a folder of which a policy does not say it.
const (
	DefaultMaxBytes = 256 << 20
	DefaultMaxFiles = 10_000 // files and folders
)

// Access is what may be done with files: a set of bits.
type Access uint8

// What may be done with files.
const (
	Read  Access = 1 << iota // files and folders can be read
	Write                    // and written
)

// Network grants requests to servers. Lists that are empty stand for what their comments say.
type Network struct {
	// Host is empty of an asking that names none.
	Host    string   `yaml:"host,required" check:"host" doc:"a name, *.example.org for those below it, or an address"`
	Schemes []string `yaml:"schemes,nonempty" check:"scheme" doc:"https when nothing is said"`
	Ports   []uint16 `yaml:"ports,nonempty" check:"port" doc:"the one of the scheme when nothing is said"`
	Methods []string `yaml:"methods,nonempty" check:"method" doc:"GET and HEAD when nothing is said"`
	// Paths without * stand for themselves and all below. In others * stands for a part of a segment, and a last ** for
	// all below.
	Paths   []string `yaml:"paths,nonempty" check:"path" doc:"as /v1, which is all below it too, or /v1/*/profile; every path when nothing is said"`
	Private bool     `yaml:"private" doc:"whether the host may have an address of a private network, or of this machine"`
	Secrets []string `yaml:"secrets,nonempty" check:"name" doc:"names of the secrets that requests may carry"`
}

// A Secret is a value the provider may use and never see. Exactly one source is set.
type Secret struct {
	Name    string `yaml:"name,required" check:"name" doc:"what rules and the provider call it"`
	Env     string `yaml:"env" check:"variable" doc:"the variable of the host's environment that has it"`
	File    string `yaml:"file" check:"host path" doc:"the file that has it"`
	Keyring string `yaml:"keyring" check:"keyring" doc:"its entry in the system's keyring, as SERVICE/USER"`
}

// KV grants a key-value store of the provider's own. Zero fields are for the host's defaults.
type KV struct {
	Namespace string `yaml:"namespace" check:"name" doc:"the store's name, when it is not the provider's"`
	MaxBytes  uint64 `yaml:"max_bytes" check:"size" doc:"of all keys and values"`
	MaxKeys   uint64 `yaml:"max_keys" check:"count" doc:"how many there may be"`
	MaxValue  uint64 `yaml:"max_value" check:"size" doc:"the size of one value"`
	ReadOnly  bool   `yaml:"read_only" doc:"whether values can be read alone, and neither put nor deleted"`
}

// SQL grants reading from a database by a connection with a name. Exactly one of the three sources is set, except of
// what a provider asks for, which knows none. Zero limits are for the host's defaults.
type SQL struct {
	Name       string        `yaml:"name,required" check:"name" doc:"what the provider calls the connection"`
	DSNEnv     string        `yaml:"dsn_env" check:"variable" doc:"the variable of the host's environment that has the data source name"`
	DSNFile    string        `yaml:"dsn_file" check:"host path" doc:"the file that has it"`
	DSN        string        `yaml:"dsn" check:"dsn" doc:"the data source name itself, when it carries no password"`
	Timeout    time.Duration `yaml:"timeout" check:"duration" doc:"of one statement"`
	MaxRows    uint64        `yaml:"max_rows" check:"count" doc:"of one statement"`
	MaxBytes   uint64        `yaml:"max_bytes" check:"size" doc:"of the rows of one statement"`
	Privileged bool          `yaml:"privileged" doc:"whether the role may be one that a read-only transaction does not hold"`
}

// Limits bound what the provider may use. Zero is for the host's default.
type Limits struct {
	MilliCPU uint32        `yaml:"cpu" check:"cpu" doc:"processors that calls may use, all together and in the long run"`
	Memory   uint64        `yaml:"memory" check:"size" doc:"linear memory of one instance"` // hosts round down to pages of 64 KiB
	Fuel     uint64        `yaml:"fuel" check:"count" doc:"instructions of one call"`
	Timeout  time.Duration `yaml:"timeout" check:"duration" doc:"wall-clock time of one call"`
	Output   uint64        `yaml:"output" check:"size" doc:"contents of one read"`
	Stack    uint64        `yaml:"stack" check:"size" doc:"native stack of one call"`
	Log      uint64        `yaml:"log" check:"size" doc:"what may be logged in one call"`
}

// Empty reports whether p grants no power. Configuration and limits are none.
func (p *Policy) Empty() bool {
	return len(p.Storage)+len(p.Network)+len(p.Environment)+len(p.Secrets)+len(p.SQL) == 0 && p.KV == nil
}

// Under gives p with relative host paths taken from dir.
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
