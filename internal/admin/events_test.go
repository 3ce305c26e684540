package admin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
)

// follow asks for events with an admin key, and returns a function that reads the next one; nil at the end.
func (r *remote) follow(t *testing.T, query, last, key string) (next func() *admin.AuditEntry) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+key)
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	answer, err := r.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %s, %s", answer.Status, answer.Header.Get("Content-Type"))
	}
	lines, id := bufio.NewScanner(answer.Body), ""
	return func() *admin.AuditEntry {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				e := &admin.AuditEntry{}
				if err := json.Unmarshal([]byte(text), e); err != nil || fmt.Sprint(e.Seq) != id {
					t.Errorf("event %s: %s, %v", id, text, err)
				}
				if _, err := e.Line(); err != nil {
					t.Error(err)
				}
				return e
			}
		}
		return nil
	}
}

// Who follows the ledger gets each entry once, in order, goes on behind the last one, and gets none of another tenant, nor any when
// the key was revoked.
func TestEvents(t *testing.T) {
	r := serveTLS(t, admintest.New(t, acme(), &tenant.Tenant{ID: "beta", Owner: tenant.OwnerFiles}))
	all, own := r.key(t, admin.Auditor, ""), r.key(t, admin.TenantAdmin, "beta")
	note := func(from, to int) {
		t.Helper()
		var group []ledger.Entry
		for n := from; n < to; n++ {
			group = append(group, ledger.Entry{Actor: "uid 7", Tenant: []string{"acme", "beta"}[n%2], Action: "test.count", Object: fmt.Sprint(n), After: "a\nb"})
		}
		if err := r.Ledger.Append(t.Context(), group...); err != nil {
			t.Fatal(err)
		}
	}
	note(0, 4) // before they ask
	next, theirs, none := r.follow(t, "", "", all), r.follow(t, "?action=test.", "", own), r.follow(t, "?action=never", "", all)
	note(4, 304) // more than one page of the ledger
	note(304, 308)
	var last *admin.AuditEntry
	for n := 4; n < 308; n++ {
		if last = next(); last == nil || last.Object != fmt.Sprint(n) {
			t.Fatalf("event %d is %+v", n, last)
		}
	}
	for n := 5; n < 308; n += 2 {
		if e := theirs(); e == nil || e.Object != fmt.Sprint(n) || e.Tenant != "beta" {
			t.Fatalf("event %d of beta is %+v", n, e)
		}
	}
	again := r.follow(t, "", fmt.Sprint(last.Seq-2), all)
	for n := 306; n < 308; n++ {
		if e := again(); e == nil || e.Object != fmt.Sprint(n) {
			t.Errorf("behind an earlier event: got %+v, want %d", e, n)
		}
	}
	for _, wrong := range []struct{ query, last, key, code string }{
		{"", "x", all, admin.CodeInvalid}, {"", fmt.Sprint(last.Seq + 100), all, admin.CodeInvalid}, {"?tenant=acme", "", own, admin.CodeForbidden},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/events"+wrong.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header = http.Header{"Authorization": {"Bearer " + wrong.key}, "Last-Event-Id": {wrong.last}}
		answer, err := r.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var p admin.Problem
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || p.Code != wrong.code {
			t.Errorf("%+v: got %d %+v, %v", wrong, answer.StatusCode, p, err)
		}
		answer.Body.Close()
	}
	if _, err := r.Apply(t.Context(), tenant.Change{RemoveAdminKeys: []string{all[4:16]}}); err != nil {
		t.Fatal(err)
	}
	note(308, 309)
	if e := next(); e != nil {
		t.Errorf("a revoked key gets %+v", e)
	}
	if err := r.Ledger.Append(t.Context(), ledger.Entry{Actor: "uid 7", Action: "never"}); err != nil {
		t.Fatal(err)
	}
	if e := none(); e != nil {
		t.Errorf("a revoked key gets %+v", e)
	}
}
