package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/tenant"
)

// A Rollout is a provider with a version on trial.
type Rollout struct {
	Tenant   string `json:"tenant"`
	Provider string `json:"provider"`
	Route    Route  `json:"route"`
}

// listRollouts answers the providers with a canary that the caller may see, sorted by tenant and provider.
func (s *Server) listRollouts(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	if s.cfg.Versions == nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server has no versions")
	}
	now, c := s.cfg.Host.Snapshot(), callerOf(r.Context())
	var names []string
	for id, route := range now.Routes {
		if route.Canary != 0 && c.sees(id.Tenant) {
			names = append(names, id.String())
		}
	}
	slices.Sort(names)
	names, next := p.cut(names)
	items := []Rollout{}
	for _, name := range names {
		tenantID, provider, _ := strings.Cut(name, "/") // IDs of tenants have no slash
		id := tenant.ProviderID{Tenant: tenantID, Provider: provider}
		shown := routeShown(now.Routes[id])
		if t := s.cfg.Versions.Trial(id); t != nil {
			short := *t
			short.History = nil
			shown.Trial = &short
		}
		items = append(items, Rollout{tenantID, provider, shown})
	}
	return ok(Page[Rollout]{items, next})
}

// Rollouts returns a page of the providers with a version on trial, after a cursor.
func (c *Client) Rollouts(ctx context.Context, cursor string) (p Page[Rollout], err error) {
	return p, c.do(ctx, http.MethodGet, "/v1/rollouts?"+c.pageQuery(cursor), nil, &p)
}
