package app

import (
	"context"
	"net/url"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/session"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

// A Fault is a call that failed because of the provider. It has no secret of the provider.
type Fault struct {
	Digest    string // of the module, as in "sha256:9f86…"
	Op        abi.Op
	URI       string // of the call; empty for one without a URI
	Code      abi.Code
	Reason    string      // in a few words; empty if unknown
	Stack     []abi.Frame // that were running, innermost first; nil if unknown
	LastLines []string    // logged last by the guest, at most eight
	Fuel      uint64
	Memory    uint64 // of the guest, in bytes
	// Session makes the text of a recorded session of the call, with a comment, and says why a replay may end elsewhere. It
	// takes as long as some megabytes take to encode, so a goroutine of its own should call it. Its text is nil if there is
	// nothing to show without a secret. Session is nil unless calls are recorded.
	Session func(comment string) (text []byte, inexact string)
}

// onFault receives a fault of the runtime.
func (a *App) onFault(_ context.Context, f *runtime.Fault) {
	a.cfg.Fault(a.faultOf(f))
}

// maxSession bounds the text of a recorded session, in bytes.
const maxSession = 8 << 20

// sessionText returns the text of a recorded session. What a secret would be seen in, even after every value in it was
// scrubbed, is left out.
func sessionText(f *runtime.Fault, comment string, config map[string]string, scrub func(string) string) ([]byte, string) {
	s := session.OfFault(f, comment, config, scrub)
	text := s.Format()
	if scrub(string(text)) != string(text) {
		s.Host, s.Steps[0].Host, s.Grants.Config = nil, nil, nil
		s.Steps[0].Crash.Inexact = "what the host answered had a secret, and is not in the session"
		text = s.Format()
	}
	if scrub(string(text)) != string(text) || len(text) > maxSession {
		return nil, "the session would have a secret, or is too large"
	}
	return text, s.Steps[0].Crash.Inexact
}

// noteSecret keeps a secret that the provider uses, which no report may have.
func (a *App) noteSecret(text string) { a.secrets = append(a.secrets, text) }

// noteDSN keeps the secrets in the address of a database.
func (a *App) noteDSN(dsn string) {
	a.noteSecret(dsn)
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			a.noteSecret(password)
		}
	}
}

// redactor returns the function that replaces the secrets of the provider.
func (a *App) redactor() func(string) string { return httpcap.Scrubber(a.secrets) }
