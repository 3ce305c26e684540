package policy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// MaxSize bounds a policy file, in bytes.
const MaxSize = 1 << 20

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
	Host   string // the folder; empty of what a provider asks for, which does not know
	Guest  string // absolute clean slash-separated path at which guests see it; empty of an asking that names none
	Access Access
	// What may be there more, by what the provider writes, than when it was loaded. Zero is for the default, except of
	// an asking, which leaves it open. Without Write both are zero.
	MaxBytes, MaxFiles uint64
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
	Host    string   // a name or address; "*.example.org" for the names below one; empty of an asking that names none
	Schemes []string // "https", "http"; empty for https
	Ports   []uint16 // empty for the one of the scheme
	Methods []string // in capitals; empty for GET and HEAD
	// Paths without * stand for themselves and all below. In others * stands for a part of a segment, and a last ** for
	// all below. Empty for every path.
	Paths   []string
	Private bool     // also when the host's address is a private one
	Secrets []string // names of secrets that requests may carry
}

// A Secret is a value the provider may use and never see. Exactly one source is set.
type Secret struct {
	Name    string
	Env     string // variable of the host's environment
	File    string // file of the host
	Keyring string // entry of the system's keyring, as SERVICE/USER
}

// KV grants a key-value store of the provider's own. Zero fields are for the host's defaults.
type KV struct {
	Namespace string // empty for that of the provider's name
	MaxBytes  uint64 // of all keys and values
	MaxKeys   uint64
	MaxValue  uint64 // bytes of one value
	ReadOnly  bool   // values can be read, and neither put nor deleted
}

// SQL grants reading from a database by a connection with a name. Exactly one of the three sources is set, except of
// what a provider asks for, which knows none. Zero limits are for the host's defaults.
type SQL struct {
	Name     string
	DSNEnv   string // variable of the host's environment that holds the data source name
	DSNFile  string // file of the host that holds it
	DSN      string // itself; never with a password
	Timeout  time.Duration
	MaxRows  uint64
	MaxBytes uint64
	// Privileged accepts a role of the database that could do more than a read-only transaction prevents.
	Privileged bool
}

// Limits bound what the provider may use. Zero is for the host's default.
type Limits struct {
	MilliCPU uint32        // thousandths of a processor, in the long run
	Memory   uint64        // bytes of linear memory; hosts round down to pages of 64 KiB
	Fuel     uint64        // instructions of one call
	Timeout  time.Duration // wall-clock time of one call
	Output   uint64        // bytes of one read
	Stack    uint64        // bytes
	Log      uint64        // bytes logged in one call
}

// Empty reports whether p grants no power. Configuration and limits are none.
func (p *Policy) Empty() bool {
	return len(p.Storage)+len(p.Network)+len(p.Environment)+len(p.Secrets)+len(p.SQL) == 0 && p.KV == nil
}

// Load reads a policy file. Its relative paths are taken from the folder it is in.
func Load(file string) (*Policy, error) {
	text, err := readFile(file)
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

// readFile reads a file without trusting its size, nor that it is one.
func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: it has more than %d bytes, which no policy needs", file, MaxSize)
	}
	return text, nil
}

// Parse reads a policy. name is what errors, which are [Problems], call the text. Relative paths stay as they are.
func Parse(name string, text []byte) (*Policy, error) {
	r := &reader{file: name}
	root, ok := r.tree(text)
	if !ok {
		return nil, r.problems
	}
	p := &Policy{}
	policyForm.read(r, root, p)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return p, nil
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

// A Problem is something wrong in a file, and where.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when it is about the whole file
	Text         string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are all that was found wrong in a file, in its order.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 0 {
		return "no problems"
	}
	text := p[0].Error()
	if more := len(p) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// ProblemsOf gives what is wrong in a file, when that is what err says.
func ProblemsOf(err error) Problems {
	var found Problems
	errors.As(err, &found)
	return found
}
