package admin

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/wasmres/wasmres/internal/strict"
)

// A Role is what a caller of the API may do.
type Role string

// The roles.
const (
	Operator    Role = "operator"     // everything
	TenantAdmin Role = "tenant-admin" // manages one tenant, but not what it may use: approves within its plan
	Deployer    Role = "deployer"     // pushes versions and gives them clients; approves nothing
	Auditor     Role = "auditor"      // reads
)

// Roles are all of them.
var Roles = []Role{Operator, TenantAdmin, Deployer, Auditor}

// A caller is who sends a request.
type caller struct {
	name   string // for operators and the record of what was done, as in "uid 1000"
	via    string // socket or tls
	role   Role
	tenant string // of a caller that may use one tenant only; empty for all
}

type callerKey struct{}

// callerOf returns who sends a request that was permitted.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// actorOf says who sends a request, for operators.
func actorOf(ctx context.Context) string { return callerOf(ctx).name }

// sees reports whether a caller may see a tenant.
func (c caller) sees(tenantID string) bool { return c.tenant == "" || c.tenant == tenantID }

// identify finds out who sends a request.
func (s *Server) identify(r *http.Request) (caller, error) {
	p, ok := r.Context().Value(peerKey{}).(peer)
	if !ok {
		return caller{}, forbidden("the connection is no Unix socket")
	}
	if p.err != nil {
		return caller{}, forbidden("the user at the other end is unknown: %v", p.err)
	}
	if own := os.Geteuid(); p.known && p.uid != 0 && p.uid != own {
		return caller{}, forbidden("user %d may not administer this server: only user %d and root may", p.uid, own)
	}
	c := caller{name: "admin socket", via: "socket", role: Operator}
	if p.known {
		c.name = fmt.Sprintf("uid %d", p.uid)
	}
	return c, nil
}

// permit refuses a caller whose role or tenant does not allow an endpoint.
func (e *endpoint) permit(c caller, r *http.Request) error {
	if !slices.Contains(e.may, c.role) {
		return forbidden("the role %s may not do this: %s", c.role, e.whoMay())
	}
	switch {
	case c.tenant == "" || e.own:
		return nil
	case !e.isOfTenant():
		return forbidden("this is about the whole server, and your credential is for the tenant %s", c.tenant)
	case r.PathValue("tenant") != c.tenant:
		return forbidden("your credential is for the tenant %s, not for %q", c.tenant, strict.Clip(r.PathValue("tenant")))
	}
	return nil
}

// whoMay says which roles may use an endpoint.
func (e *endpoint) whoMay() string {
	words := make([]string, len(e.may))
	for i, role := range e.may {
		words[i] = string(role)
	}
	return "the roles that may are " + joined(words)
}

func forbidden(format string, args ...any) error {
	return &Problem{Status: http.StatusForbidden, Code: CodeForbidden, Detail: fmt.Sprintf(format, args...)}
}
