package legacy

import (
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// maxShown is how many bytes of a text of a client are shown, before what a person must not see is escaped.
const maxShown = 64

// An OpenSession describes an open HTTP session, of whose ID it has too little to be a credential.
type OpenSession struct {
	ID            string // its beginning, as [accesslog.ShownSession] gives it
	Revision      string
	ClientName    string // as the client says, shortened and escaped, as ClientVersion
	ClientVersion string
	Principal     string // name of the client that has opened it; empty for none
	Began         time.Time
	LastRequest   time.Time // when its last request ended; Began before that
	Streams       int       // open GET streams
}

// Sessions returns the open HTTP sessions, in no order, but for those whose initialize is not answered yet.
func (f *Front) Sessions() (all []OpenSession) {
	for _, s := range f.openHTTP() {
		if shown, ok := s.show(); ok {
			all = append(all, shown)
		}
	}
	return all
}

// openHTTP returns the open HTTP sessions.
func (f *Front) openHTTP() []*session {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*session, 0, len(f.byID))
	for _, s := range f.byID {
		all = append(all, s)
	}
	return all
}

// show says what the session is. It reports false if that has ended, or is not known yet.
func (s *session) show() (_ OpenSession, ok bool) {
	params := s.sdk.InitializeParams()
	if params == nil {
		return OpenSession{}, false
	}
	client := params.ClientInfo
	if client == nil { // in a batch
		client = &sdk.Implementation{}
	}
	s.mu.Lock()
	used, isStreaming, ended := s.used, s.stream != nil, s.ended
	s.mu.Unlock()
	shown := OpenSession{
		ID: accesslog.ShownSession(s.name()), Revision: params.ProtocolVersion, ClientName: shownText(client.Name),
		ClientVersion: shownText(client.Version), Principal: s.owner.Name(), Began: s.opened, LastRequest: used,
	}
	if isStreaming {
		shown.Streams = 1
	}
	return shown, !ended
}

// shownText returns a text of a client for a person.
func shownText(s string) string {
	if len(s) > maxShown {
		s = strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return printable.Line(s)
}
