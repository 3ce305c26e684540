package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Session is an open MCP session of a client of a tenant, of a revision before 2026-07-28. It is of no use as a credential.
type Session struct {
	ID            string    `json:"id"` // its beginning, as the access log has it
	Revision      string    `json:"revision"`
	ClientName    string    `json:"clientName,omitempty"`    // as the client says, shortened and escaped
	ClientVersion string    `json:"clientVersion,omitempty"` // likewise
	Principal     string    `json:"principal,omitempty"`     // name of the client's key, or the subject of its token or certificate
	Began         time.Time `json:"began"`
	LastRequest   time.Time `json:"lastRequest"` // when its last request ended
	Streams       int       `json:"streams"`     // of changes, that are open
}

// listSessions answers the open sessions of a tenant, sorted by their beginning.
func (s *Server) listSessions(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	id := r.PathValue("tenant")
	if err := knownTenant(s.cfg.Host.Snapshot(), id); err != nil {
		return answer{}, err
	}
	if s.cfg.Sessions == nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server does not know its sessions")
	}
	byName, names := map[string]Session{}, []string{}
	for _, one := range s.cfg.Sessions(id) {
		name := fmt.Sprintf("%020d/%s", one.Began.UnixNano(), one.ID)
		byName[name], names = one, append(names, name)
	}
	slices.Sort(names)
	names, next := p.cut(names)
	items := []Session{}
	for _, name := range names {
		items = append(items, byName[name])
	}
	return ok(Page[Session]{items, next})
}

// Sessions returns a page of the open sessions of a tenant's clients, after a cursor.
func (c *Client) Sessions(ctx context.Context, tenantID, cursor string) (p Page[Session], err error) {
	return p, c.do(ctx, http.MethodGet, tenantPath(tenantID)+"/sessions?"+c.pageQuery(cursor), nil, &p)
}
