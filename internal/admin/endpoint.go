package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
)

// An endpoint is one method of one path.
type endpoint struct {
	method, path string // of [http.ServeMux]; {tenant} is the tenant that the endpoint is about
	may          []Role // who may use it
	// own says that callers of one tenant may use a path without {tenant}: the handler restricts what they see and do to that
	// tenant. Without it and without {tenant}, they may not.
	own bool
	// action names what a write does, for the record of what operators did, as in "key.create". Empty for reads only.
	action string
	handle func(*Server, *http.Request) (answer, error)

	maxBody int64         // bytes; zero is 64 KiB
	timeout time.Duration // of the handler; zero is 30 seconds. A stream may take longer: see answer.
}

// Who may use an endpoint.
var (
	readers   = []Role{Operator, TenantAdmin, Deployer, Auditor}
	deployers = []Role{Operator, TenantAdmin, Deployer}
	managers  = []Role{Operator, TenantAdmin}
	auditors  = []Role{Operator, TenantAdmin, Auditor}
	operators = []Role{Operator}
)

// endpoints are all of the API.
var endpoints = []endpoint{
	{method: http.MethodGet, path: "/openapi.json", may: readers, own: true, handle: (*Server).describe},
	{method: http.MethodGet, path: "/v1/node", may: readers, own: true, handle: (*Server).node},
	{method: http.MethodGet, path: "/v1/top", may: readers, handle: (*Server).top},
	{method: http.MethodPost, path: "/v1/reload", may: operators, action: "configuration.reload", handle: (*Server).reload, timeout: reloadTime},

	{method: http.MethodGet, path: "/v1/tenants", may: readers, own: true, handle: (*Server).listTenants},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}", may: readers, handle: (*Server).showTenant},
	{method: http.MethodPut, path: "/v1/tenants/{tenant}", may: managers, action: "tenant.set", handle: (*Server).putTenant, maxBody: strict.MaxSize},
	{method: http.MethodDelete, path: "/v1/tenants/{tenant}", may: operators, action: "tenant.remove", handle: (*Server).removeTenant},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/file", may: auditors, handle: (*Server).exportTenant},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/quota", may: readers, handle: (*Server).showQuota},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/disable", may: operators, action: "tenant.disable", handle: (*Server).disableTenant},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/enable", may: operators, action: "tenant.enable", handle: (*Server).enableTenant},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/adopt", may: operators, action: "tenant.adopt", handle: (*Server).adoptTenant},
	{method: http.MethodPut, path: "/v1/tenants/{tenant}/providers/{provider}", may: managers, action: "provider.set", handle: (*Server).putProvider, maxBody: strict.MaxSize},
	{method: http.MethodDelete, path: "/v1/tenants/{tenant}/providers/{provider}", may: managers, action: "provider.remove", handle: (*Server).removeProvider},

	{method: http.MethodGet, path: "/v1/tenants/{tenant}/providers/{provider}/versions", may: readers, handle: (*Server).listVersions},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/versions", may: deployers, action: "version.push", handle: (*Server).pushVersion, maxBody: maxPushBody, timeout: pushTime},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/providers/{provider}/versions/{version}", may: readers, handle: (*Server).showVersion},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/versions/{version}/approve", may: managers, action: "version.approve", handle: (*Server).approveVersion},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/versions/{version}/reject", may: managers, action: "version.reject", handle: (*Server).rejectVersion},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/providers/{provider}/route", may: readers, handle: (*Server).showRoute},
	{method: http.MethodPut, path: "/v1/tenants/{tenant}/providers/{provider}/route", may: deployers, action: "route.set", handle: (*Server).putRoute},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/promote", may: deployers, action: "version.promote", handle: (*Server).promoteVersion},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/rollback", may: deployers, action: "version.rollback", handle: (*Server).rollbackVersion},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/wake", may: deployers, action: "provider.wake", handle: (*Server).wakeProvider},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/providers/{provider}/stop", may: deployers, action: "provider.stop", handle: (*Server).stopProvider},

	{method: http.MethodGet, path: "/v1/rollouts", may: readers, own: true, handle: (*Server).listRollouts},

	{method: http.MethodGet, path: "/v1/plans", may: readers, handle: (*Server).listPlans},
	{method: http.MethodPut, path: "/v1/plans/{plan}", may: operators, action: "plan.set", handle: (*Server).putPlan, maxBody: strict.MaxSize},
	{method: http.MethodDelete, path: "/v1/plans/{plan}", may: operators, action: "plan.remove", handle: (*Server).removePlan},

	{method: http.MethodGet, path: "/v1/crashes", may: readers, own: true, handle: (*Server).listCrashes},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/crashes", may: readers, handle: (*Server).listCrashes},
	{method: http.MethodGet, path: "/v1/crashes/{crash}", may: readers, own: true, handle: (*Server).showCrash},
	{method: http.MethodGet, path: "/v1/crashes/{crash}/session", may: deployers, own: true, handle: (*Server).crashSession},

	{method: http.MethodGet, path: "/v1/usage", may: auditors, own: true, handle: (*Server).listUsage},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/usage", may: auditors, handle: (*Server).listUsage},

	{method: http.MethodGet, path: "/v1/audit", may: auditors, own: true, handle: (*Server).listAudit},
	{method: http.MethodGet, path: "/v1/events", may: auditors, own: true, handle: (*Server).events},

	{method: http.MethodGet, path: "/v1/tenants/{tenant}/sessions", may: auditors, handle: (*Server).listSessions},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/logs", may: deployers, handle: (*Server).logs},

	{method: http.MethodGet, path: "/v1/keys", may: auditors, own: true, handle: (*Server).listKeys},
	{method: http.MethodGet, path: "/v1/tenants/{tenant}/keys", may: auditors, handle: (*Server).listKeys},
	{method: http.MethodPost, path: "/v1/tenants/{tenant}/keys", may: managers, action: "key.create", handle: (*Server).createKey},
	{method: http.MethodDelete, path: "/v1/keys/{key}", may: managers, own: true, action: "key.revoke", handle: (*Server).revokeKey},
	{method: http.MethodPost, path: "/v1/keys/{key}/rotate", may: managers, own: true, action: "key.rotate", handle: (*Server).rotateKey},

	{method: http.MethodGet, path: "/v1/tenants/{tenant}/secrets", may: readers, handle: (*Server).listSecrets},
	{method: http.MethodPut, path: "/v1/tenants/{tenant}/secrets/{secret}", may: managers, action: "secret.set", handle: (*Server).putSecret},
	{method: http.MethodDelete, path: "/v1/tenants/{tenant}/secrets/{secret}", may: managers, action: "secret.remove", handle: (*Server).removeSecret},
	{method: http.MethodPost, path: "/v1/secrets/rotate-key", may: operators, action: "secret.rotate-key", handle: (*Server).rotateSecretKey, timeout: reloadTime},

	{method: http.MethodGet, path: "/v1/admin-keys", may: operators, handle: (*Server).listAdminKeys},
	{method: http.MethodPost, path: "/v1/admin-keys", may: operators, action: "adminkey.create", handle: (*Server).createAdminKey},
	{method: http.MethodDelete, path: "/v1/admin-keys/{key}", may: operators, action: "adminkey.revoke", handle: (*Server).revokeAdminKey},
}

// An answer is what an endpoint says, unless it fails.
type answer struct {
	status   int    // zero is 200
	body     any    // as JSON; nil is none
	tag      string // of the header ETag, without quotes: see tagOf; empty is none
	location string // path of the object that was made; empty is none
	repeated bool   // it is that of an earlier request: see once

	// stream writes the body instead, as contentType, until it returns or ctx ends with the connection. Each Write is sent at
	// once, and its client has 30 seconds to take it. The handler has not more than timeout before it returns the answer; the
	// stream has no such bound. Errors of Write are to be returned; the client sees an answer that is cut.
	to          caller // which must be the same before each Write
	stream      func(ctx context.Context, w streamWriter) error
	contentType string
}

func ok(body any) (answer, error) { return answer{body: body}, nil }
func done() (answer, error)       { return answer{status: http.StatusNoContent}, nil }

// isOfTenant reports whether the path says which tenant the endpoint is about.
func (e *endpoint) isOfTenant() bool { return strings.Contains(e.path, "{tenant}") }

// A streamWriter writes the body of a stream.
type streamWriter struct {
	to   http.ResponseWriter
	ctrl *http.ResponseController
	may  func() error // says why its client may not have more; nil if it may
}

// Write implements [io.Writer].
func (w streamWriter) Write(p []byte) (int, error) {
	if err := w.may(); err != nil {
		return 0, err
	}
	if err := w.ctrl.SetWriteDeadline(time.Now().Add(requestTime)); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	if err != nil {
		return n, err
	}
	return n, w.ctrl.Flush()
}
