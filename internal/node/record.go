package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// A recorder writes into the ledger what changes. It is a store.Recorder: a change is in the ledger before it is in the store. So
// a server that is killed between the two leaves an entry of a change that is not in force; the next start notes that. A
// rollback alone serves clients some milliseconds before its entry is on disk: see deploy.Config.Ahead.
type recorder struct{ ledger atomic.Pointer[ledger.Ledger] } // nil until it is open, before which there are no changes

// maxAppend is how many entries stand together.
const maxAppend = 500

// Record implements store.Recorder.
func (r *recorder) Record(ctx context.Context, c *tenant.Change, before, after *tenant.Snapshot) error {
	to := r.ledger.Load()
	if to == nil {
		return ledger.ErrUnavailable
	}
	entries := entriesOf(c, before, after)
	cause := ledger.CauseOf(ctx)
	for i := range entries {
		e := &entries[i]
		e.Actor, e.Via, e.Generation = c.Actor, cause.Via, after.Generation
	}
	for group := range slices.Chunk(entries, maxAppend) {
		if err := to.Append(ctx, group...); err != nil {
			return err
		}
	}
	cause.SetRecorded()
	return nil
}

// Undo implements store.Recorder.
func (r *recorder) Undo(before *tenant.Snapshot, err error) {
	r.ledger.Load().Note(ledger.Entry{
		Actor: "server", Action: "change.undone", Object: fmt.Sprintf("generation %d", before.Generation+1),
		Outcome: "not in force: " + err.Error(), Generation: before.Generation,
	})
}

// entriesOf says what a change does: at least one thing.
func entriesOf(c *tenant.Change, before, after *tenant.Snapshot) (entries []ledger.Entry) {
	add := func(tenantID, action, object string, was, is any) {
		entries = append(entries, ledger.Entry{Tenant: tenantID, Action: action, Object: object, Before: stateText(was), After: stateText(is)})
	}
	for _, id := range slices.Sorted(slices.Values(after.ChangedSince(before))) {
		was, is := before.Tenants[id], after.Tenants[id]
		if was == is {
			continue
		}
		add(id, verb("tenant", was == nil, is == nil, "create", "remove"), id, tenantState(was), tenantState(is))
	}
	for _, id := range slices.Sorted(maps.Keys(before.Gone)) {
		if _, isGone := after.Gone[id]; !isGone && after.Tenants[id] == nil {
			add(id, "tenant.forget", id, nil, nil)
		}
	}
	for _, name := range changed(before.Plans, after.Plans) {
		was, is := before.Plans[name], after.Plans[name]
		add("", verb("plan", was == nil, is == nil, "create", "remove"), name, was, is)
	}
	for _, id := range changed(before.Keys, after.Keys) {
		was, is := before.Keys[id], after.Keys[id]
		of := is
		if is == nil {
			of = was
		}
		add(of.Tenant, verb("key", was == nil, is == nil, "create", "revoke"), id, keyState(was), keyState(is))
	}
	for _, id := range changed(before.AdminKeys, after.AdminKeys) {
		was, is := before.AdminKeys[id], after.AdminKeys[id]
		of := is
		if is == nil {
			of = was
		}
		add(of.Tenant, verb("adminkey", was == nil, is == nil, "create", "revoke"), id, adminKeyState(was), adminKeyState(is))
	}
	sealedAnew := 0
	for _, id := range changed(before.Secrets, after.Secrets) { // nothing of their values
		if was, is := before.Secrets[id], after.Secrets[id]; was != nil && is != nil && was.Changed.Equal(is.Changed) {
			sealedAnew++ // with the value that it had
			continue
		}
		add(id.Tenant, verb("secret", before.Secrets[id] == nil, after.Secrets[id] == nil, "create", "remove"), id.String(), nil, nil)
	}
	if sealedAnew > 0 {
		add("", "secret.rotate-key", "", nil, fmt.Sprintf("%d secrets sealed by the new key", sealedAnew))
	}
	for _, id := range changed(before.Problems, after.Problems) {
		if text, isStale := after.Problems[id]; isStale {
			add(id, "tenant.stale", id, nil, text)
		} else {
			add(id, "tenant.right", id, nil, nil)
		}
	}
	entries = append(entries, versionEntries(c, before, after)...)
	if len(entries) == 0 {
		add("", "configuration.change", "", nil, nil)
	}
	return entries
}

// versionEntries says what a change does to versions and routes.
func versionEntries(c *tenant.Change, before, after *tenant.Snapshot) (entries []ledger.Entry) {
	add := func(tenantID, action, object string, was, is any) {
		entries = append(entries, ledger.Entry{Tenant: tenantID, Action: action, Object: object, Before: stateText(was), After: stateText(is)})
	}
	for _, v := range c.SetVersions {
		id := tenant.ProviderID{Tenant: v.Tenant, Provider: v.Provider}
		was, is := before.VersionOf(id, v.Number), after.VersionOf(id, v.Number)
		if is == nil || was == is {
			continue
		}
		add(v.Tenant, "version."+string(is.State), fmt.Sprintf("%s@%d", id, v.Number), was, is)
	}
	for _, v := range c.RemoveVersions {
		id := tenant.ProviderID{Tenant: v.Tenant, Provider: v.Provider}
		add(v.Tenant, "version.remove", fmt.Sprintf("%s@%d", id, v.Number), nil, nil)
	}
	for _, r := range c.SetRoutes {
		id := tenant.ProviderID{Tenant: r.Tenant, Provider: r.Provider}
		add(r.Tenant, "route.set", id.String(), before.Routes[id], after.Routes[id])
	}
	return entries
}

// adminKeyState is what the ledger says of an admin key; nil for none.
func adminKeyState(k *tenant.AdminKey) any {
	if k == nil {
		return nil
	}
	state := struct {
		Name    string     `json:"name"`
		Role    string     `json:"role"`
		Tenant  string     `json:"tenant,omitempty"`
		Expires *time.Time `json:"expires,omitempty"`
	}{Name: k.Name, Role: k.Role, Tenant: k.Tenant}
	if !k.Expires.IsZero() {
		state.Expires = &k.Expires
	}
	return state
}

// changed returns the sorted keys whose values differ. The store leaves a map as it is in which nothing has changed.
func changed[K comparable, V comparable](before, after map[K]V) (keys []K) {
	if tenant.IsSameMap(before, after) {
		return nil
	}
	for key, is := range after {
		if was, ok := before[key]; !ok || was != is {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// verb returns the name of an action.
func verb(kind string, isNew, isGone bool, create, remove string) string {
	switch {
	case isNew:
		return kind + "." + create
	case isGone:
		return kind + "." + remove
	}
	return kind + ".change"
}

// stateText returns a state as it stands in the ledger; empty for none.
func stateText(state any) string {
	if text, ok := state.(string); ok || state == nil {
		return text
	}
	text, err := json.Marshal(state)
	if err != nil {
		return fmt.Sprintf("%+v", state)
	}
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// tenantState is what the ledger says of a tenant; nil for none.
func tenantState(t *tenant.Tenant) any {
	if t == nil {
		return nil
	}
	names := make([]string, len(t.Providers))
	for i := range t.Providers {
		names[i] = t.Providers[i].Name
	}
	return struct {
		Plan      string       `json:"plan,omitempty"`
		Owner     tenant.Owner `json:"owner,omitempty"`
		Disabled  bool         `json:"disabled,omitempty"`
		Digest    string       `json:"digest,omitempty"` // of its files
		Providers []string     `json:"providers,omitempty"`
	}{t.Plan, t.Owner, t.Disabled, t.Digest, names}
}

// keyState is what the ledger says of a key; nil for none.
func keyState(k *tenant.Key) any {
	if k == nil {
		return nil
	}
	state := struct {
		Name     string     `json:"name"`
		Roles    []string   `json:"roles"`
		URIs     []string   `json:"uris,omitempty"`
		Networks []string   `json:"networks,omitempty"`
		Expires  *time.Time `json:"expires,omitempty"`
	}{Name: k.Name, Roles: k.Roles, URIs: k.URIs}
	for _, n := range k.Networks {
		state.Networks = append(state.Networks, n.String())
	}
	if !k.Expires.IsZero() {
		state.Expires = &k.Expires
	}
	return state
}

// recordStart notes that the server has started, and whether the ledger and the store agree.
func (n *Node) recordStart() {
	was, present := n.ledger.Opened(), n.store.Snapshot().Generation
	e := ledger.Entry{Actor: "server", Object: fmt.Sprintf("generation %d", present), Generation: present}
	switch {
	case was.Seq == 0 && present > 0:
		e.Action, e.Outcome = "ledger.begin", "the changes until then are in no ledger"
	case was.Seq > 0 && was.Generation > present:
		e.Action, e.Object = "change.undone", fmt.Sprintf("generation %d", was.Generation)
		e.Outcome = fmt.Sprintf("not in force: the store has generation %d", present)
	case was.Seq > 0 && was.Generation < present:
		e.Action, e.Outcome = "change.unrecorded", fmt.Sprintf("the ledger ends at generation %d", was.Generation)
	}
	if e.Action != "" {
		n.ledger.Note(e)
	}
	if was.Seq > 0 && was.Generation != present {
		n.cfg.Logger.Warn("ledger and store differ, which the ledger has noted", "ledger_generation", was.Generation, "generation", present)
	}
	if was.Torn > 0 {
		n.ledger.Note(ledger.Entry{Actor: "server", Action: "ledger.cut", Object: fmt.Sprintf("entry %d", was.Seq+1), After: fmt.Sprintf("%d bytes removed that were not written to their end", was.Torn)})
	}
	n.ledger.Note(ledger.Entry{Actor: "server", Action: "server.start", After: "wasmres " + n.cfg.Version, Generation: present})
}

// recordReload records that the files were read, unless that has changed nothing and no operator has asked for it.
func (n *Node) recordReload(ctx context.Context, r *Report, err error) error {
	cause := ledger.CauseOf(ctx)
	e := ledger.Entry{Actor: cause.Actor, Via: cause.Via, Action: "configuration.reload"}
	switch {
	case err != nil:
		e.Outcome = err.Error()
		n.ledger.Note(e)
		return nil
	case r.IsEmpty() && cause.Via == "":
		return nil
	}
	e.After = fmt.Sprintf("%d added, %d changed, %d removed, %d wrong", len(r.Added), len(r.Changed), len(r.Removed), len(r.Problems))
	if err := n.ledger.Append(context.WithoutCancel(ctx), e); err != nil {
		return fmt.Errorf("%w: %w", tenant.ErrUnavailable, err)
	}
	cause.SetRecorded()
	return nil
}

// recordUse notes the first use of a key on a day.
func (n *Node) recordUse(k *tenant.Key) {
	n.ledger.Note(ledger.Entry{Actor: "key " + k.ID, Tenant: k.Tenant, Action: "key.use", Object: k.ID, After: time.Now().UTC().Format(time.DateOnly)})
}

// recordDenial notes a call of a capability that a policy does not allow.
func (n *Node) recordDenial(of tenant.ProviderID, d app.Denial) {
	n.ledger.Note(ledger.Entry{Actor: "provider " + of.Provider, Tenant: of.Tenant, Action: "capability.deny", Object: d.Capability, After: d.Subject, Outcome: d.Why})
}

// Record writes an entry of what an operator did into the ledger, and returns when it is on disk.
func (n *Node) Record(ctx context.Context, e ledger.Entry) error { return n.ledger.Append(ctx, e) }

// recordRead notes a request that has read a resource.
func (n *Node) recordRead(tenantID string, e accesslog.Entry) {
	switch e.Method {
	case "resources/read", "download", "tools/call":
	default:
		return
	}
	actor := "anonymous"
	if e.Principal != "" {
		actor = "client " + e.Principal
	}
	outcome := ""
	if e.Code != "ok" {
		outcome = e.Code
	}
	state := struct {
		From  string `json:"from,omitempty"`
		Bytes int64  `json:"bytes"`
	}{e.Client, e.Bytes}
	n.ledger.NoteRead(ledger.Entry{Actor: actor, Via: "mcp", Tenant: tenantID, Action: "resource.read", Object: e.URI, After: stateText(state), Outcome: outcome})
}

// isUnrecorded reports whether requests are to be refused, since the ledger cannot be written.
func (n *Node) isUnrecorded() bool { return n.settings.Load().AuditStrict && n.ledger.IsBehind() }
