package admin

import (
	"context"
	"net/http"
)

// A Quota is one limit of a tenant's plan, and what the tenant uses of it.
type Quota struct {
	Limit string  `json:"limit"`          // what is limited, as in "streams"
	Unit  string  `json:"unit,omitempty"` // of the numbers: bytes, seconds, or none
	Used  float64 `json:"used"`           // now, or since midnight UTC for a limit of a day
	Most  float64 `json:"most"`           // 0 for no bound
}

// Units of quotas.
const (
	UnitBytes   = "bytes"
	UnitSeconds = "seconds"
)

// showQuota answers what a tenant uses of its plan.
func (s *Server) showQuota(r *http.Request) (answer, error) {
	snapshot, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if err := knownTenant(snapshot, id); err != nil {
		return answer{}, err
	}
	if s.cfg.Quotas == nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server has no quotas")
	}
	if snapshot.Tenants[id] == nil {
		return ok(Page[Quota]{Items: []Quota{}})
	}
	return ok(Page[Quota]{Items: notNil(s.cfg.Quotas(id))})
}

// Quotas returns what a tenant uses of its plan.
func (c *Client) Quotas(ctx context.Context, id string) (p Page[Quota], err error) {
	return p, c.do(ctx, http.MethodGet, tenantPath(id)+"/quota", nil, &p)
}
