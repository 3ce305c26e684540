package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// An AuditEntry is an entry of the ledger: see [ledger.Line].
type AuditEntry struct {
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Node   string    `json:"node"`            // ID of the server's key
	Batch  uint64    `json:"batch,omitempty"` // of the first entry that was written together with this one
	Prev   string    `json:"prev"`            // hash of the entry before
	Hash   string    `json:"hash"`
	Actor  string    `json:"actor,omitempty"`
	Via    string    `json:"via,omitempty"`
	Tenant string    `json:"tenant,omitempty"`
	Action string    `json:"action"`
	Object string    `json:"object,omitempty"`
	// Before and After say what the object was and what it has become.
	Before     string `json:"before,omitempty"`
	After      string `json:"after,omitempty"`
	Outcome    string `json:"outcome,omitempty"`    // empty for success
	Generation uint64 `json:"generation,omitempty"` // of the configuration after the entry
}

// AuditEntryOf returns an entry as the API has it.
func AuditEntryOf(l *ledger.Line) AuditEntry {
	return AuditEntry{
		Seq: l.Seq, Time: l.Time, Node: l.Node, Batch: l.Batch, Prev: l.Prev.String(), Hash: l.Hash.String(), Actor: l.Actor, Via: l.Via, Tenant: l.Tenant,
		Action: l.Action, Object: l.Object, Before: l.Before, After: l.After, Outcome: l.Outcome, Generation: l.Generation,
	}
}

// Line returns the entry as it stands in the ledger. It is an error if its hash does not fit.
func (e *AuditEntry) Line() (*ledger.Line, error) {
	l := &ledger.Line{Seq: e.Seq, Time: e.Time, Node: e.Node, Batch: e.Batch, Entry: ledger.Entry{
		Actor: e.Actor, Via: e.Via, Tenant: e.Tenant, Action: e.Action, Object: e.Object, Before: e.Before, After: e.After, Outcome: e.Outcome, Generation: e.Generation,
	}}
	var err error
	if l.Prev, err = ledger.ParseHash(e.Prev); err != nil {
		return nil, fmt.Errorf("entry %d: prev: %w", e.Seq, err)
	}
	if l.Hash, err = ledger.ParseHash(e.Hash); err != nil {
		return nil, fmt.Errorf("entry %d: hash: %w", e.Seq, err)
	}
	if !l.Fits() {
		return nil, fmt.Errorf("entry %d was changed on its way: its hash does not fit", e.Seq)
	}
	return l, nil
}

// listAudit answers entries of the ledger, to the caller of one tenant those that concern it.
func (s *Server) listAudit(r *http.Request) (answer, error) {
	if s.cfg.Audit == nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server keeps no ledger")
	}
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	q, err := auditQuery(r.URL.Query(), p)
	if err != nil {
		return answer{}, err
	}
	if err := restrict(r.Context(), &q); err != nil {
		return answer{}, err
	}
	found, err := s.cfg.Audit(r.Context(), q)
	if err != nil {
		return answer{}, fmt.Errorf("read the ledger: %w", err)
	}
	page := Page[AuditEntry]{Items: []AuditEntry{}}
	for _, l := range found.Lines {
		page.Items = append(page.Items, AuditEntryOf(l))
	}
	if found.Next != 0 {
		page.Next = strconv.FormatUint(found.Next, 10)
	}
	return ok(page)
}

// restrict has a caller of one tenant ask for the entries of that tenant.
func restrict(ctx context.Context, q *ledger.Query) error {
	own := callerOf(ctx).tenant
	if own == "" {
		return nil
	}
	if q.Tenant != "" && q.Tenant != own {
		return forbidden("your credential is for the tenant %s, not for %s", own, clip(q.Tenant))
	}
	q.Tenant = own
	return nil
}

// auditQuery reads which entries are asked for.
func auditQuery(given url.Values, p page) (q ledger.Query, err error) {
	q = ledger.Query{Tenant: given.Get("tenant"), Actor: given.Get("actor"), Action: given.Get("action"), Limit: p.limit}
	if p.after != "" {
		if q.After, err = strconv.ParseUint(p.after, 10, 63); err != nil || q.After == 0 {
			return q, invalid("cursor %s: it is not one of this list", clip(p.after))
		}
	}
	for name, to := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		text := given.Get(name)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return q, invalid("%s %s: it is not a time: write it like 2026-11-24T12:00:00Z", name, clip(text))
		}
	}
	if text := given.Get("newest"); text != "" {
		if q.Newest, err = strconv.ParseBool(text); err != nil {
			return q, invalid("newest %s: it is one of true, false", clip(text))
		}
	}
	return q, nil
}

// Audit returns a page of the ledger, after a cursor. Of q it uses Tenant, Actor, Action, From, To, Newest and Limit. A page may have
// no entries although more follow.
func (c *Client) Audit(ctx context.Context, q ledger.Query, cursor string) (p Page[AuditEntry], err error) {
	v := url.Values{}
	set := func(name, text string) {
		if text != "" {
			v.Set(name, text)
		}
	}
	set("cursor", cursor)
	set("tenant", q.Tenant)
	set("actor", q.Actor)
	set("action", q.Action)
	for name, t := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.Newest {
		v.Set("newest", "true")
	}
	limit := MaxPage
	if q.Limit > 0 {
		limit = min(q.Limit, MaxPage)
	}
	v.Set("limit", strconv.Itoa(limit))
	return p, c.do(ctx, http.MethodGet, "/v1/audit?"+v.Encode(), nil, &p)
}
