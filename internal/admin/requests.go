package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	// MaxPage is the most items on a page.
	MaxPage   = 200
	pageSize  = 100
	maxCursor = 256 // bytes
)

// decode reads the body of a request into v. Members that are not known are refused, and so is what follows the value.
func decode(r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
		return problem(http.StatusUnsupportedMediaType, CodeMediaType, "Content-Type: the body must be %s", jsonType)
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("the body has more than one value")
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return invalid("the body is not as expected: %v", err)
}

// A page says which part of a list to answer.
type page struct {
	after string
	limit int
}

func pageOf(r *http.Request) (p page, err error) {
	q := r.URL.Query()
	if p.after = q.Get("cursor"); len(p.after) > maxCursor {
		return page{}, invalid("cursor: it is longer than %d bytes", maxCursor)
	}
	p.limit, err = limitOf(r, pageSize)
	return p, err
}

// limitOf reads the parameter limit.
func limitOf(r *http.Request, fallback int) (int, error) {
	given := r.URL.Query().Get("limit")
	if given == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > MaxPage {
		return 0, invalid("limit %s: it must be from 1 to %d", strict.Clip(given), MaxPage)
	}
	return n, nil
}

// cut returns the page of a sorted list of names, and the cursor of the next one.
func (p page) cut(sorted []string) (names []string, next string) {
	from, found := slices.BinarySearch(sorted, p.after)
	if found {
		from++
	}
	rest := sorted[from:]
	if len(rest) <= p.limit {
		return rest, ""
	}
	return rest[:p.limit], rest[p.limit-1]
}

func (s *Server) node(r *http.Request) (answer, error) {
	n := s.nodeNow()
	if callerOf(r.Context()).tenant != "" { // a tenant's people see no more of the server than its clients need
		n = Node{Version: n.Version, Started: n.Started, Endpoints: n.Endpoints, Generation: n.Generation, NotReadyFor: n.NotReadyFor}
	}
	return answer{body: n, tag: tagOfGeneration(n.Generation)}, nil
}

func (s *Server) nodeNow() Node {
	n, snapshot := s.cfg.Host.Node(), s.cfg.Host.Snapshot()
	n.Tenants, n.Stale, n.Generation = len(snapshot.Tenants), len(snapshot.Problems), snapshot.Generation
	return n
}

func (s *Server) top(r *http.Request) (answer, error) {
	most, err := limitOf(r, 50)
	if err != nil {
		return answer{}, err
	}
	return ok(Top{Time: time.Now(), Node: s.nodeNow(), Loads: notNil(s.cfg.Host.Top(most))})
}

func (s *Server) reload(r *http.Request) (answer, error) {
	if err := checkMatch(r, tagOfGeneration(s.cfg.Host.Snapshot().Generation)); err != nil {
		return answer{}, err
	}
	report, err := s.cfg.Host.Reload(r.Context())
	if err == nil {
		return answer{body: report, tag: tagOfGeneration(report.Generation)}, nil
	}
	if p := problemOf(err); p.Code != CodeInternal {
		return answer{}, p
	}
	return answer{}, &Problem{Status: http.StatusUnprocessableEntity, Code: CodeInvalid, Detail: err.Error()} // the files are wrong
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *Server) listTenants(r *http.Request) (answer, error) {
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	snapshot := s.cfg.Host.Snapshot()
	stale := r.URL.Query().Get("stale")
	if stale != "" && stale != "true" && stale != "false" {
		return answer{}, invalid("stale %s: it is one of true, false", strict.Clip(stale))
	}
	c, part := callerOf(r.Context()), strings.ToLower(r.URL.Query().Get("search"))
	if len(part) > tenant.MaxID {
		return answer{}, invalid("search: it has more than %d bytes", tenant.MaxID)
	}
	ids := slices.DeleteFunc(tenantIDs(snapshot, stale == "true"), func(id string) bool { return !c.sees(id) || !strings.Contains(id, part) })
	ids, next := p.cut(ids)
	keys := keysByTenant(snapshot)
	items := []TenantSummary{}
	for _, id := range ids {
		items = append(items, s.summary(snapshot, id, len(keys[id])))
	}
	return answer{body: Page[TenantSummary]{items, next}, tag: tagOfGeneration(snapshot.Generation)}, nil
}

// tenantIDs returns the sorted IDs of all tenants, those included that were never right.
func tenantIDs(snapshot *tenant.Snapshot, onlyStale bool) (ids []string) {
	for id := range snapshot.Problems {
		ids = append(ids, id)
	}
	if !onlyStale {
		for id := range snapshot.Tenants {
			if _, stale := snapshot.Problems[id]; !stale {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// summary returns a tenant, which may have nothing but a problem.
func (s *Server) summary(snapshot *tenant.Snapshot, id string, keys int) TenantSummary {
	sum := TenantSummary{ID: id, Keys: keys, Problem: snapshot.Problems[id]}
	t := snapshot.Tenants[id]
	if t == nil {
		return sum
	}
	sum.Plan, sum.Owner, sum.Providers, sum.Disabled = t.Plan, t.Owner, len(t.Providers), t.Disabled
	if sum.Plan == "" {
		sum.Plan = tenant.DefaultPlan
	}
	sum.Live, _ = s.cfg.Host.Live(id)
	return sum
}

func (s *Server) showTenant(r *http.Request) (answer, error) {
	snapshot, id := s.cfg.Host.Snapshot(), r.PathValue("tenant")
	if err := knownTenant(snapshot, id); err != nil {
		return answer{}, err
	}
	shown := Tenant{TenantSummary: s.summary(snapshot, id, len(keysByTenant(snapshot)[id]))}
	t := snapshot.Tenants[id]
	if t == nil {
		return answer{body: shown}, nil
	}
	shown.Hosts, shown.Origins, shown.Tools, shown.Anonymous, shown.Digest = t.Hosts, t.Origins, t.Tools, t.Anonymous, t.Digest
	shown.Roles = roleNames(t)
	states, faults := s.cfg.Host.States(id), s.lastFaults(id)
	for _, p := range t.Providers {
		state := states[p.Name]
		one := Provider{
			Name: p.Name, Module: p.Module, Digest: p.Digest, State: cmp.Or(state.Name, Cold), Reason: state.Reason,
			Processes: state.Processes, Memory: state.Memory, LastFault: faults[p.Name],
		}
		if !state.LastStart.IsZero() {
			at := state.LastStart.UTC()
			one.LastStart = &at
		}
		if route := snapshot.Routes[tenant.ProviderID{Tenant: id, Provider: p.Name}]; route != nil && p.Module == "" {
			one.Version, one.Canary = route.Active, route.Canary
		}
		shown.Modules = append(shown.Modules, one)
	}
	return answer{body: shown, tag: tagOf(t)}, nil
}

// lastFaults returns the last crash of each provider of a tenant, by its name. Reports that cannot be read are left out: the rest
// of what is shown does not depend on them.
func (s *Server) lastFaults(id string) map[string]*Fault {
	last := map[string]*Fault{}
	if s.cfg.Crashes == nil {
		return last
	}
	reports, err := s.cfg.Crashes.List(id)
	if err != nil {
		s.cfg.Logger.Warn("crashes of a tenant not read", "tenant", id, "err", err)
	}
	for _, r := range reports {
		if f := last[r.Provider]; f == nil || r.Last.After(f.Time) {
			last[r.Provider] = &Fault{Crash: r.ID, Code: r.Code, Time: r.Last}
		}
	}
	return last
}

func roleNames(t *tenant.Tenant) (names []string) {
	for _, role := range t.Roles {
		names = append(names, role.Name)
	}
	return names
}

// knownTenant says that there is no such tenant, and which one the operator may mean.
func knownTenant(snapshot *tenant.Snapshot, id string) error {
	if snapshot.Tenants[id] != nil {
		return nil
	}
	if _, stale := snapshot.Problems[id]; stale {
		return nil
	}
	p := &Problem{Status: http.StatusNotFound, Code: CodeNoTenant, Detail: fmt.Sprintf("no tenant %q", strict.Clip(id))}
	if gone, ok := snapshot.Gone[id]; ok {
		p.Detail += " any more: it was removed at " + gone.UTC().Format(time.RFC3339)
		return p
	}
	p.near(id, tenantIDs(snapshot, false))
	return p
}

// near adds the known name that is most like one that does not exist.
func (p *Problem) near(typed string, known []string) {
	p.Nearest = strict.Nearest(typed, known)
	if p.Nearest != "" {
		p.Detail += fmt.Sprintf(": did you mean %s?", p.Nearest)
	}
}

// clip shortens a text of a request for a message.
func clip(s string) string { return strconv.Quote(strict.Clip(strings.ToValidUTF8(s, "\ufffd"))) }
