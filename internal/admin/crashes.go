package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/strict"
)

// Crashes has what is known of the crashes of tenants' providers. It is safe for concurrent use.
type Crashes interface {
	// List returns those of a tenant.
	List(tenant string) ([]crashes.Report, error)
	// Find returns the one with an ID, among those of tenants. The error is crashes.ErrNotFound if there is none.
	Find(id string, tenants []string) (crashes.Report, error)
	// Session returns the recorded session of a crash. The error is crashes.ErrNotFound if there is none.
	Session(r crashes.Report) ([]byte, error)
}

const sessionType = "text/plain; charset=utf-8"

// listCrashes answers the crashes of a tenant, or of all that the caller may see, sorted by tenant and ID.
func (s *Server) listCrashes(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	tenants, err := s.tenantsOf(r)
	if err != nil {
		return answer{}, err
	}
	items := []crashes.Report{}
	for _, id := range tenants {
		if first, _, _ := strings.Cut(p.after, "/"); id < first {
			continue
		}
		found, err := s.cfg.Crashes.List(id)
		if err != nil {
			return answer{}, err
		}
		slices.SortFunc(found, func(a, b crashes.Report) int { return strings.Compare(a.ID, b.ID) })
		for _, c := range found {
			switch name := c.Tenant + "/" + c.ID; {
			case name <= p.after:
			case len(items) == p.limit:
				last := items[len(items)-1]
				return ok(Page[crashes.Report]{items, last.Tenant + "/" + last.ID})
			default:
				items = append(items, c)
			}
		}
	}
	return ok(Page[crashes.Report]{Items: items})
}

// tenantsOf returns the tenants whose crashes a request is about, sorted.
func (s *Server) tenantsOf(r *http.Request) ([]string, error) {
	if s.cfg.Crashes == nil {
		return nil, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server keeps no crashes")
	}
	snapshot := s.cfg.Host.Snapshot()
	if id := r.PathValue("tenant"); id != "" {
		return []string{id}, knownTenant(snapshot, id)
	}
	var ids []string
	for id := range snapshot.Tenants {
		if callerOf(r.Context()).sees(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// crash returns the crash that a request is about.
func (s *Server) crash(r *http.Request) (crashes.Report, error) {
	tenants, err := s.tenantsOf(r)
	if err != nil {
		return crashes.Report{}, err
	}
	c, err := s.cfg.Crashes.Find(r.PathValue("crash"), tenants)
	if errors.Is(err, crashes.ErrNotFound) {
		err = problem(http.StatusNotFound, CodeNoCrash, "no crash %q: 'wasmres crash list' shows those there are", strict.Clip(r.PathValue("crash")))
	}
	return c, err
}

func (s *Server) showCrash(r *http.Request) (answer, error) {
	c, err := s.crash(r)
	if err != nil {
		return answer{}, err
	}
	return ok(c)
}

// crashSession answers a recorded session.
func (s *Server) crashSession(r *http.Request) (answer, error) {
	c, err := s.crash(r)
	if err != nil {
		return answer{}, err
	}
	text, err := s.cfg.Crashes.Session(c)
	if errors.Is(err, crashes.ErrNotFound) {
		return answer{}, problem(http.StatusNotFound, CodeNoCrash,
			"crash %s has no recorded session: the provider %s/%s needs record_crashes: true in the file of its tenant, and the crash must come again", c.ID, c.Tenant, c.Provider)
	}
	if err != nil {
		return answer{}, err
	}
	return answer{contentType: sessionType, stream: func(_ context.Context, w streamWriter) error {
		_, err := w.Write(text)
		return err
	}}, nil
}

// Crashes returns a page of the crashes of a tenant, after a cursor; an empty tenant is all of them.
func (c *Client) Crashes(ctx context.Context, tenantID, cursor string) (p Page[crashes.Report], err error) {
	path := "/v1/crashes"
	if tenantID != "" {
		path = "/v1/tenants/" + url.PathEscape(tenantID) + "/crashes"
	}
	return p, c.do(ctx, http.MethodGet, path+"?"+c.pageQuery(cursor), nil, &p)
}

// Crash returns a crash.
func (c *Client) Crash(ctx context.Context, id string) (r crashes.Report, err error) {
	return r, c.do(ctx, http.MethodGet, "/v1/crashes/"+url.PathEscape(id), nil, &r)
}

// CrashSession returns the recorded session of a crash.
func (c *Client) CrashSession(ctx context.Context, id string) (text []byte, err error) {
	return text, c.do(ctx, http.MethodGet, "/v1/crashes/"+url.PathEscape(id)+"/session", nil, &text)
}
