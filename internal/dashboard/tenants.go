package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/webpage"
)

const (
	busiest   = 20 // tenants on the page of the server
	pageSize  = 50 // items on a page of a list
	maxSearch = 63 // bytes
)

// urlOf returns the URL of a page of this site; parts are escaped.
func urlOf(parts ...string) string {
	to := root
	for _, p := range parts {
		to += "/" + url.PathEscape(p)
	}
	return to
}

// nodePage is what the page of the server shows.
type nodePage struct {
	Top    admin.Top
	Uptime string
}

func showNode(v *visit) error {
	if v.standing.Tenant != "" { // who may not see the server
		http.Redirect(v.w, v.r, urlOf("tenants", v.standing.Tenant), http.StatusSeeOther)
		return nil
	}
	top, err := v.api.Top(v.r.Context(), busiest)
	if err != nil {
		return err
	}
	n := top.Node
	view := v.view("Server", nodePage{
		Top: top, Uptime: webpage.Seconds(top.Time.Sub(n.Started).Seconds()),
	})
	view.Refresh = refreshTime
	return v.show("node", view)
}

func number(f float64) string { return webpage.Count(int64(f)) }

// tenantsList is what the page of tenants shows.
type tenantsList struct {
	Search  string
	Stale   bool
	Tenants []admin.TenantSummary
	Next    string // URL of the next page; empty at the end
	IsFirst bool
}

func showTenants(v *visit) error {
	q := v.r.URL.Query()
	l := tenantsList{Search: webpage.Short(maxSearch, q.Get("q")), Stale: q.Get("stale") == "true", IsFirst: q.Get("after") == ""}
	found, err := v.api.WithPages(pageSize).SearchTenants(v.r.Context(), l.Search, q.Get("after"), l.Stale)
	if err != nil {
		return err
	}
	if l.Tenants = found.Items; found.Next != "" {
		l.Next = urlOf("tenants") + "?" + url.Values{"q": {l.Search}, "stale": {strconv.FormatBool(l.Stale)}, "after": {found.Next}}.Encode()
	}
	view := v.view("Tenants", l)
	view.Refresh = refreshTime
	return v.show("tenants", view)
}

// tenantPage is what the page of a tenant shows.
type tenantPage struct {
	admin.Tenant
	Standing admin.Standing
	Here     string
	Meters   []webpage.Meter
	More     int // providers that are not shown
}

func showTenant(v *visit) error {
	id := v.r.PathValue("tenant")
	t, err := v.api.Tenant(v.r.Context(), id)
	if err != nil {
		return err
	}
	p := tenantPage{Tenant: t, Standing: v.standing, Here: "overview", More: len(t.Modules) - pageSize}
	p.Modules = p.Modules[:min(len(p.Modules), pageSize)]
	quotas, err := v.api.Quotas(v.r.Context(), id)
	if err != nil {
		return err
	}
	for _, q := range quotas.Items {
		p.Meters = append(p.Meters, webpage.NewMeter(q.Limit, q.Used, q.Most, formats[q.Unit]))
	}
	view := v.tenantView(id, id, p)
	view.Refresh = refreshTime
	return v.show("tenant", view)
}

// formats write the numbers of quotas, by their unit.
var formats = map[string]func(float64) string{"": number, admin.UnitBytes: webpage.Size, admin.UnitSeconds: webpage.Seconds}

// tenantView returns the view of a page about a tenant.
func (v *visit) tenantView(title, id string, main any) *webpage.View {
	view := v.view(title, main)
	view.Trail = []webpage.Link{{Text: "Tenants", URL: urlOf("tenants")}}
	if v.r.URL.Path != urlOf("tenants", id) {
		view.Trail = append(view.Trail, webpage.Link{Text: id, URL: urlOf("tenants", id)})
	}
	return view
}
