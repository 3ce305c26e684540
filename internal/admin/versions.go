package admin

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	moduleType  = "application/octet-stream"
	maxPushBody = 64<<20 + 1 // bytes
	pushTime    = 5 * time.Minute
)

// A Push is a module for a provider. Either Body or Reference is set.
type Push struct {
	Provider  tenant.ProviderID
	Body      io.Reader
	Reference string
	Policy    *policy.Policy // nil for what the manifest requests
	Next      tenant.Next
	Actor     string
	Approver  string // who approves it whatever it asks for; empty for no one
}

// Versions bring modules to where they serve. It is safe for concurrent use. Errors are Problems, or those of
// [tenant.Store.Apply]. mayChange refuses a route that is not as the caller has seen it; its route is nil before the first.
type Versions interface {
	Push(ctx context.Context, p Push) (*tenant.Version, error)
	Approve(ctx context.Context, id tenant.ProviderID, number int, actor string) error
	Reject(ctx context.Context, id tenant.ProviderID, number int, reason, actor string) error
	Promote(ctx context.Context, id tenant.ProviderID, number int, actor string, mayChange func(*tenant.Route) error) error
	Rollback(ctx context.Context, id tenant.ProviderID, actor string, mayChange func(*tenant.Route) error) error
	SetRoute(ctx context.Context, id tenant.ProviderID, active, canary, share int, actor string, mayChange func(*tenant.Route) error) error
	// Trial returns what the server knows of a provider's canary; nil if it has none.
	Trial(id tenant.ProviderID) *Trial
	// Watchers returns how many subscriptions the clients of a tenant have.
	Watchers(tenantID string) int
}

// A Version is a version of a deployed provider.
type Version struct {
	Tenant    string              `json:"tenant"`
	Provider  string              `json:"provider"`
	Number    int                 `json:"number"`
	State     tenant.VersionState `json:"state"`
	Reason    string              `json:"reason,omitempty"` // of the states refused, rejected and failed
	Route     string              `json:"route,omitempty"`  // active, canary or previous; empty for none
	Digest    string              `json:"digest"`
	Size      int64               `json:"size"`                // bytes
	CompileMs int64               `json:"compileMs,omitempty"` // it took to compile; zero before, and for code that was compiled before
	Reference string              `json:"ref,omitempty"`
	Asks      []string            `json:"asks"` // what it may do once it is approved, in words
	More      []string            `json:"more"` // of that, what the active version may not
	Less      []string            `json:"less"` // what the active version may and this one may not
	Created   time.Time           `json:"created"`
	Creator   string              `json:"creator,omitempty"`
	Decided   *time.Time          `json:"decided,omitempty"`
	Decider   string              `json:"decider,omitempty"`
	Manifest  json.RawMessage     `json:"manifest,omitempty"`
	Report    json.RawMessage     `json:"report,omitempty"` // of the trial

	Tag string `json:"-"` // of what Client has read, for a write that requires it
}

// A Route says which versions serve.
type Route struct {
	Active   int `json:"active"`             // 0 for none
	Previous int `json:"previous,omitempty"` // to which a rollback returns
	Canary   int `json:"canary,omitempty"`
	Share    int `json:"share,omitempty"` // of the clients that the canary serves, in percent
	// PromoteAfter is how many seconds the canary serves before it is promoted without an operator; 0 is never.
	PromoteAfter int64 `json:"promoteAfter,omitempty"`

	Changed *time.Time `json:"changed,omitempty"`
	Changer string     `json:"changer,omitempty"`
	// Watchers is how many subscriptions the clients of the tenant have, which follow its routes.
	Watchers int `json:"watchers,omitempty"`
	// Trial is that of the canary; in the answer to a change that ended it, what it was until then.
	Trial *Trial `json:"trial,omitempty"`

	Tag string `json:"-"` // as that of Version
}

// A Trial compares a canary with the active version, since the server has given it clients.
type Trial struct {
	Version int        `json:"version"`
	Began   *time.Time `json:"began,omitempty"` // nil while no client has asked for the tenant
	Active  Counts     `json:"active"`
	Canary  Counts     `json:"canary"`
	Problem string     `json:"problem,omitempty"` // why it is not loaded, while the server tries again
	Failed  string     `json:"failed,omitempty"`  // why the server has taken it back
	History *History   `json:"history,omitempty"` // of Active and Canary; nil for none, and in lists of rollouts
}

// A History has counts in steps of time since a trial began.
type History struct {
	StepSeconds int    `json:"stepSeconds"`
	Steps       []Step `json:"steps"` // at most 48, the oldest first; the last one is not over
}

// A Step is what was counted within one step of time.
type Step struct {
	Active Counts `json:"active"`
	Canary Counts `json:"canary"`
}

// Counts are what was counted of a version.
type Counts struct {
	Calls     int   `json:"calls"`
	Faults    int   `json:"faults"`    // calls that ended by a fault of the provider
	P99Micros int64 `json:"p99Micros"` // that 99 of 100 reads did not exceed; zero for too few
}

// A NewVersion is a module by its reference, with what else a push says.
type NewVersion struct {
	Reference string `json:"ref,omitempty"`
	Policy    string `json:"policy,omitempty"`  // as a policy file has it
	Next      string `json:"next,omitempty"`    // once it is approved: promote, canary or none; empty means promote
	Share     int    `json:"share,omitempty"`   // of a canary
	Approve   bool   `json:"approve,omitempty"` // whatever it asks for; the roles that approve may
	// PromoteAfter is how many seconds a canary serves before it is promoted without an operator; 0 is never.
	PromoteAfter int64 `json:"promoteAfter,omitempty"`
}

// A Rejection says why.
type Rejection struct {
	Reason string `json:"reason,omitempty"`
}

// A Promotion names a version.
type Promotion struct {
	Version int `json:"version"`
}

// providerOf returns the deployed provider of a request.
func (s *Server) providerOf(r *http.Request) (*tenant.Snapshot, tenant.ProviderID, error) {
	now := s.cfg.Host.Snapshot()
	id := tenant.ProviderID{Tenant: r.PathValue("tenant"), Provider: r.PathValue("provider")}
	if err := knownTenant(now, id.Tenant); err != nil {
		return nil, id, err
	}
	t := now.Tenants[id.Tenant]
	if t == nil || t.Provider(id.Provider) == nil && len(now.Versions[id]) == 0 {
		p := problem(http.StatusNotFound, CodeNoProvider, "no provider %q of tenant %s", strict.Clip(id.Provider), id.Tenant)
		if t != nil {
			var names []string
			for _, known := range t.Providers {
				names = append(names, known.Name)
			}
			p.near(id.Provider, names)
		}
		return nil, id, p
	}
	if s.cfg.Versions == nil {
		return nil, id, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server has no versions")
	}
	return now, id, nil
}

// versionOf returns the version of a request.
func (s *Server) versionOf(r *http.Request) (*tenant.Snapshot, *tenant.Version, error) {
	now, id, err := s.providerOf(r)
	if err != nil {
		return nil, nil, err
	}
	number, err := strconv.Atoi(r.PathValue("version"))
	if v := now.VersionOf(id, number); err == nil && v != nil {
		return now, v, nil
	}
	return nil, nil, problem(http.StatusNotFound, CodeNoVersion, "no version %s of %s: 'wasmres version list %s' lists them", clip(r.PathValue("version")), id, id)
}

// versionShown returns a version as the API has it.
func versionShown(now *tenant.Snapshot, v *tenant.Version, whole bool) Version {
	shown := Version{
		Tenant: v.Tenant, Provider: v.Provider, Number: v.Number, State: v.State, Reason: v.Reason, Digest: v.Digest, Size: v.Size, Reference: v.Reference,
		CompileMs: v.CompileTime.Milliseconds(),
		Asks:      notNil(v.Policy.Lines()), Created: v.Created, Creator: v.Creator, Decider: v.Decider,
	}
	if !v.Decided.IsZero() {
		shown.Decided = &v.Decided
	}
	before := &policy.Policy{}
	if route := now.Routes[v.ID()]; route != nil {
		shown.Route = placeIn(route, v.Number)
		if active := now.VersionOf(v.ID(), route.Active); active != nil {
			before = &active.Policy
		}
	}
	difference := policy.Diff(before, &v.Policy)
	shown.More, shown.Less = notNil(difference.More), notNil(difference.Less)
	if whole && v.Manifest != "" {
		shown.Manifest = json.RawMessage(v.Manifest)
	}
	if whole && v.Report != "" {
		shown.Report = json.RawMessage(v.Report)
	}
	return shown
}

func placeIn(r *tenant.Route, number int) string {
	switch number {
	case r.Active:
		return "active"
	case r.Canary:
		return "canary"
	case r.Previous:
		return "previous"
	}
	return ""
}

func routeShown(r *tenant.Route) Route {
	if r == nil {
		return Route{}
	}
	return Route{Active: r.Active, Previous: r.Previous, Canary: r.Canary, Share: r.Share, PromoteAfter: int64(r.PromoteAfter / time.Second), Changed: &r.Changed, Changer: r.Changer}
}

// tagOfRoute returns the tag of a route; that of none is not empty, so that the first change has a condition, too.
func tagOfRoute(r *tenant.Route) string { return tagOf(r) }

// mayChange refuses a change of a route if If-Match names another.
func mayChange(r *http.Request) func(*tenant.Route) error {
	return func(route *tenant.Route) error { return checkMatch(r, tagOfRoute(route)) }
}

func pathOfVersion(v *tenant.Version) string {
	return "/v1/tenants/" + v.Tenant + "/providers/" + url.PathEscape(v.Provider) + "/versions/" + strconv.Itoa(v.Number)
}

func (s *Server) listVersions(r *http.Request) (answer, error) {
	now, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	items := []Version{}
	for _, v := range slices.Backward(now.Versions[id]) { // a provider has few
		items = append(items, versionShown(now, v, false))
	}
	return answer{body: Page[Version]{Items: items}, tag: tagOfRoute(now.Routes[id])}, nil
}

func (s *Server) showVersion(r *http.Request) (answer, error) {
	now, v, err := s.versionOf(r)
	if err != nil {
		return answer{}, err
	}
	return answer{body: versionShown(now, v, true), tag: tagOf(v)}, nil
}

func (s *Server) showRoute(r *http.Request) (answer, error) {
	now, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	return s.routeAnswer(now, id, s.cfg.Versions.Trial(id)), nil
}

// routeAnswer is a route with what the server knows of it.
func (s *Server) routeAnswer(now *tenant.Snapshot, id tenant.ProviderID, t *Trial) answer {
	shown := routeShown(now.Routes[id])
	shown.Watchers, shown.Trial = s.cfg.Versions.Watchers(id.Tenant), t
	return answer{body: shown, tag: tagOfRoute(now.Routes[id])}
}

// changeRoute changes a route, and answers it with the trial that this has ended.
func (s *Server) changeRoute(id tenant.ProviderID, do func() error) (answer, error) {
	before := s.cfg.Versions.Trial(id)
	if err := do(); err != nil {
		return answer{}, err
	}
	now := s.cfg.Host.Snapshot()
	t := s.cfg.Versions.Trial(id)
	if r := now.Routes[id]; before != nil && r != nil && r.Canary == 0 {
		t = before
	}
	return s.routeAnswer(now, id, t), nil
}

// pushVersion takes a module, or a reference to one.
func (s *Server) pushVersion(r *http.Request) (answer, error) {
	now, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	if err := mayChange(r)(now.Routes[id]); err != nil {
		return answer{}, err
	}
	p := Push{Provider: id, Actor: actorOf(r.Context())}
	var asked NewVersion
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && kind == moduleType {
		p.Body = r.Body
		if asked, err = newVersionOf(r.URL.Query()); err != nil {
			return answer{}, err
		}
	} else {
		r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
		if err := decode(r, &asked); err != nil {
			return answer{}, err
		}
		if p.Reference = asked.Reference; p.Reference == "" {
			return answer{}, invalid("ref: it is missing: name a module in a registry, or push one as %s", moduleType)
		}
		if strings.HasPrefix(p.Reference, "oci-layout:") {
			return answer{}, invalid("ref %s: only the file of a tenant can name a folder of the server: push the module, or write its reference in a registry", clip(p.Reference))
		}
	}
	if err := s.complete(&p, &asked, callerOf(r.Context())); err != nil {
		return answer{}, err
	}
	v, err := s.cfg.Versions.Push(r.Context(), p)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusAccepted, body: versionShown(s.cfg.Host.Snapshot(), v, false), tag: tagOf(v), location: pathOfVersion(v)}, nil
}

// newVersionOf reads what the query of a push says.
func newVersionOf(q url.Values) (v NewVersion, err error) {
	v.Policy, v.Next = q.Get("policy"), q.Get("next")
	if given := q.Get("share"); given != "" {
		if v.Share, err = strconv.Atoi(given); err != nil {
			return v, invalid("share %s: it is a number of percent", clip(given))
		}
	}
	if given := q.Get("promoteAfter"); given != "" {
		if v.PromoteAfter, err = strconv.ParseInt(given, 10, 64); err != nil {
			return v, invalid("promoteAfter %s: it is a number of seconds", clip(given))
		}
	}
	switch given := q.Get("approve"); given {
	case "", "false":
	case "true":
		v.Approve = true
	default:
		return v, invalid("approve %s: it is one of true, false", clip(given))
	}
	return v, nil
}

// complete checks what a push says, and adds it.
func (s *Server) complete(p *Push, asked *NewVersion, c caller) error {
	if asked.Share < 0 || asked.Share > 100 || asked.Share != 0 && asked.Next != "canary" {
		return invalid("share %d: it is from 0 to 100 percent, and of a canary", asked.Share)
	}
	if most := int64(tenant.MaxPromoteAfter / time.Second); asked.PromoteAfter < 0 || asked.PromoteAfter > most || asked.PromoteAfter != 0 && asked.Next != "canary" {
		return invalid("promoteAfter %d: it is from 0 to %d seconds, and of a canary", asked.PromoteAfter, most)
	}
	p.Next.PromoteAfter = time.Duration(asked.PromoteAfter) * time.Second
	switch asked.Next {
	case "", "promote":
		p.Next.Promote = true
	case "canary":
		p.Next.Canary, p.Next.Share = true, asked.Share
	case "none":
	default:
		return invalid("next %s: it is one of promote, canary, none", clip(asked.Next))
	}
	if asked.Approve {
		if !slices.Contains(managers, c.role) {
			return forbidden("approve: the role %s may not approve versions", c.role)
		}
		p.Approver = c.name
	}
	if asked.Policy == "" {
		return nil
	}
	parsed, err := policy.Parse("policy", []byte(asked.Policy))
	if err != nil {
		return invalid("%v", err)
	}
	p.Policy = parsed.Under(tenant.FilesDir(s.cfg.Host.Settings().Data, p.Provider.Tenant))
	return nil
}

func (s *Server) approveVersion(r *http.Request) (answer, error) {
	_, v, err := s.versionOf(r)
	if err == nil {
		err = checkMatch(r, tagOf(v))
	}
	if err == nil {
		err = s.cfg.Versions.Approve(r.Context(), v.ID(), v.Number, actorOf(r.Context()))
	}
	if err != nil {
		return answer{}, err
	}
	return s.showVersion(r)
}

func (s *Server) rejectVersion(r *http.Request) (answer, error) {
	_, v, err := s.versionOf(r)
	if err != nil {
		return answer{}, err
	}
	if err := checkMatch(r, tagOf(v)); err != nil {
		return answer{}, err
	}
	var why Rejection
	if err := decode(r, &why); err != nil {
		return answer{}, err
	}
	if err := s.cfg.Versions.Reject(r.Context(), v.ID(), v.Number, why.Reason, actorOf(r.Context())); err != nil {
		return answer{}, err
	}
	return s.showVersion(r)
}

func (s *Server) promoteVersion(r *http.Request) (answer, error) {
	_, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	var asked Promotion
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	if asked.Version < 1 {
		return answer{}, invalid("version %d: it is the number of one", asked.Version)
	}
	return s.changeRoute(id, func() error {
		return s.cfg.Versions.Promote(r.Context(), id, asked.Version, actorOf(r.Context()), mayChange(r))
	})
}

func (s *Server) rollbackVersion(r *http.Request) (answer, error) {
	_, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	return s.changeRoute(id, func() error {
		return s.cfg.Versions.Rollback(r.Context(), id, actorOf(r.Context()), mayChange(r))
	})
}

func (s *Server) putRoute(r *http.Request) (answer, error) {
	_, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	var asked Route
	if err := decode(r, &asked); err != nil {
		return answer{}, err
	}
	return s.changeRoute(id, func() error {
		return s.cfg.Versions.SetRoute(r.Context(), id, asked.Active, asked.Canary, asked.Share, actorOf(r.Context()), mayChange(r))
	})
}
