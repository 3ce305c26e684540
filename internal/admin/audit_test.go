package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
)

func TestAuditByPages(t *testing.T) {
	h := admintest.New(t, acme())
	c := open(t, h)
	for from := 0; from < 450; from += 50 {
		var group []ledger.Entry
		for n := from; n < from+50; n++ {
			group = append(group, ledger.Entry{Actor: "uid 7", Via: "socket", Tenant: []string{"acme", "beta"}[n%2], Action: "test.count", Object: fmt.Sprint(n), Before: "a", After: "<b>"})
		}
		if err := h.Ledger.Append(t.Context(), group...); err != nil {
			t.Fatal(err)
		}
	}
	for _, newest := range []bool{false, true} {
		pages, entries := 0, 0
		for cursor := ""; pages == 0 || cursor != ""; pages++ {
			p, err := c.Audit(t.Context(), ledger.Query{Newest: newest}, cursor)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Items {
				want := uint64(entries + 1)
				if newest {
					want = uint64(450 - entries)
				}
				l, err := p.Items[i].Line()
				if err != nil || l.Seq != want || l.Object != fmt.Sprint(want-1) || l.After != "<b>" {
					t.Fatalf("entry %d is %+v, %v", want, l, err)
				}
				entries++
			}
			cursor = p.Next
		}
		if entries != 450 || pages != 3 {
			t.Errorf("got %d entries on %d pages", entries, pages)
		}
	}
	got, err := c.Audit(t.Context(), ledger.Query{Tenant: "beta", Actor: "uid 7", Action: "test.", From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Limit: 5}, "")
	if err != nil || len(got.Items) != 5 || got.Items[0].Tenant != "beta" || got.Next == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	changed := got.Items[0]
	changed.Object = "0"
	if _, err := changed.Line(); err == nil {
		t.Error("a changed entry has its hash")
	}
	for _, cursor := range []string{"x", "0", "-1"} {
		_, err = c.Audit(t.Context(), ledger.Query{}, cursor)
		problem(t, err, 400, admin.CodeInvalid)
	}
}

// The people of a tenant see what concerns that tenant.
func TestAuditOfOneTenant(t *testing.T) {
	h := admintest.New(t, acme(), &tenant.Tenant{ID: "beta", Owner: tenant.OwnerFiles})
	r := serveTLS(t, h)
	for _, e := range []ledger.Entry{{Tenant: "acme", Action: "test.a"}, {Tenant: "beta", Action: "test.b"}, {Action: "test.server"}} {
		if err := h.Ledger.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	key := r.key(t, admin.Auditor, "acme")
	for path, want := range map[string]int{"": 200, "?tenant=acme": 200, "?tenant=beta": 403, "?action=test.&newest=true": 200, "?from=today": 400, "?newest=x": 400, "?limit=0": 400} {
		answer, text := r.ask(t, http.MethodGet, "/v1/audit"+path, "", key)
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", path, answer.StatusCode, want, text)
		}
		if want == 200 && (!strings.Contains(text, "test.a") || strings.Contains(text, "test.b") || strings.Contains(text, "test.server")) {
			t.Errorf("%s: got %s", path, text)
		}
	}
}
