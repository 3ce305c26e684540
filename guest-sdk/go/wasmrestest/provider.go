package wasmrestest

import (
	"io/fs"
	"net/http"
	"sync"
	"testing"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
)

// A Provider runs the provider that is registered in this test binary. Set the fields before the first call.
type Provider struct {
	Config   map[string]string   // what Request.Config reads
	Env      map[string]string   // what Request.Env reads
	Mounts   map[string]fs.FS    // by guest path, as in "/project": os.DirFS(dir), or Writable(dir)
	KV       *KV                 // what wasmres.KV keeps; nil when it is not granted
	HTTP     http.RoundTripper   // what requests are sent with, as Client().Transport of an httptest.Server
	SQL      map[string]Database // by connection, as in wasmres.Query
	PageSize int                 // entries of a page; 0 leaves it to the provider
	MaxBody  int64               // bytes one read may answer; 0 for 64 MiB
	Deadline time.Duration       // how long a call has by Request.TimeLeft; 0 for a minute
	Now      func() time.Time    // what Request.Now tells; nil for the real time

	Logs    []Log    // what was logged so far
	Notices []string // URIs told to NotifyUpdated so far, and "" for NotifyListChanged

	t        testing.TB
	manifest *Manifest // nil until it is asked for
}

// A Log is one line a provider logged.
type Log struct {
	Level   string // "debug", "info", "warn" or "error"
	Message string
}

// now tells the time.
func (p *Provider) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// running allows one call at a time in the whole process, for the registered provider is one too.
var running sync.Mutex

// New makes a Provider for a test.
func New(t testing.TB) *Provider { return &Provider{t: t} }

// call runs one operation. A panic of the provider goes through to the test.
func (p *Provider) call(op uint32, request []byte) (*reply, error) {
	running.Lock()
	defer running.Unlock()
	c := newCall(p, request)
	host.Current = c
	defer func() {
		host.Current = nil
		for _, end := range c.ended {
			end()
		}
	}()
	code := host.Serve(op, uint32(len(request)))
	return c.end(code)
}

// need gives what it was handed, or ends the test.
func need[T any](p *Provider, what string, v T, err error) T {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, describe(err))
	}
	return v
}

// describe adds the code to an error's text.
func describe(err error) string {
	if e, ok := err.(*wasmres.Error); ok && e.Message != "" {
		return e.Code.String() + ": " + e.Message
	}
	return err.Error()
}
