package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/internal/webpage"
)

const (
	maxUsagePages = 10 // of the API, for one page here
	maxUsageRows  = 40 // of versions, on one page here
	monthsShown   = 13
)

// A usagePage is what the page of a tenant's usage shows.
type usagePage struct {
	ID, Here string
	Standing admin.Standing
	Month    string
	Months   []string
	Requests webpage.Plot
	CPU      webpage.Plot
	Total    admin.Usage
	Versions []admin.Usage // of the whole month, those with most processor time first
	More     int           // versions that are not shown
	IsCut    bool          // there is more than the page has read
}

// months returns those that can be shown, the present one first.
func months(now time.Time) (names []string) {
	now = now.UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for i := range monthsShown {
		names = append(names, first.AddDate(0, -i, 0).Format("2006-01"))
	}
	return names
}

func showTenantUsage(v *visit) error {
	id := v.r.PathValue("tenant")
	p := usagePage{ID: id, Here: "usage", Standing: v.standing, Months: months(time.Now())}
	p.Month = cmp.Or(v.r.URL.Query().Get("month"), p.Months[0])
	days := map[time.Time]*admin.Usage{}
	versions := map[string]*admin.Usage{}
	cursor := ""
	for range maxUsagePages {
		found, err := v.api.Usage(v.r.Context(), id, p.Month, usage.Day, cursor)
		if err != nil {
			return err
		}
		for i := range found.Items {
			p.add(&found.Items[i], days, versions)
		}
		if cursor = found.Next; cursor == "" {
			break
		}
	}
	p.IsCut = cursor != ""
	p.draw(days)
	for _, u := range versions {
		p.Versions = append(p.Versions, *u)
	}
	slices.SortFunc(p.Versions, func(a, b admin.Usage) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Version, b.Version))
	})
	if p.More = len(p.Versions) - maxUsageRows; p.More > 0 {
		p.Versions = p.Versions[:maxUsageRows]
	}
	return v.show("usage", v.tenantView("Usage of "+id, id, p))
}

// add adds a row of a day. Requests of clients are in rows without a provider, and what their calls have used in the others.
func (p *usagePage) add(u *admin.Usage, days map[time.Time]*admin.Usage, versions map[string]*admin.Usage) {
	day := days[u.Begin]
	if day == nil {
		day = &admin.Usage{Begin: u.Begin}
		days[u.Begin] = day
	}
	if u.Provider == "" {
		sum(day, u)
		sum(&p.Total, u)
		return
	}
	used := admin.Usage{Fuel: u.Fuel, CPU: u.CPU, Starts: u.Starts, Memory: u.Memory}
	sum(day, &used)
	sum(&p.Total, &used)
	name := u.Provider + "@" + strconv.Itoa(u.Version)
	if versions[name] == nil {
		versions[name] = &admin.Usage{Provider: u.Provider, Version: u.Version}
	}
	sum(versions[name], u)
}

func sum(to, u *admin.Usage) {
	to.OK += u.OK
	to.Refused += u.Refused
	to.Limited += u.Limited
	to.Failed += u.Failed
	to.Fuel += u.Fuel
	to.CPU += u.CPU
	to.Starts += u.Starts
	to.Bytes += u.Bytes
	to.Memory += u.Memory
}

// draw draws a bar for each day of the month that has come.
func (p *usagePage) draw(days map[time.Time]*admin.Usage) {
	if len(days) == 0 {
		return
	}
	var requests, cpu []webpage.Column
	known := slices.SortedFunc(maps.Keys(days), time.Time.Compare)
	last := known[len(known)-1]
	for day := time.Date(last.Year(), last.Month(), 1, 0, 0, 0, 0, time.UTC); !day.After(last); day = day.AddDate(0, 0, 1) {
		u := days[day]
		if u == nil {
			u = &admin.Usage{}
		}
		label, name := strconv.Itoa(day.Day()), day.Format(time.DateOnly)
		requests = append(requests, webpage.Column{
			Label: label, Hint: fmt.Sprintf("%s: %s ok, %s refused, %s limited, %s failed", name, webpage.Count(u.OK), webpage.Count(u.Refused), webpage.Count(u.Limited), webpage.Count(u.Failed)),
			Parts: []webpage.Part{{Class: "ok", Value: float64(u.OK)}, {Class: "refused", Value: float64(u.Refused)}, {Class: "limited", Value: float64(u.Limited)}, {Class: "failed", Value: float64(u.Failed)}},
		})
		cpu = append(cpu, webpage.Column{
			Label: label, Hint: name + ": " + webpage.Seconds(u.CPU), Parts: []webpage.Part{{Class: "one", Value: u.CPU}},
		})
	}
	p.Requests = webpage.NewPlot("Requests of each day of "+p.Month, requests, number)
	p.CPU = webpage.NewPlot("Processor time of each day of "+p.Month, cpu, webpage.Seconds)
}

// showUsage shows what tenants have used in a month.
func showUsage(v *visit) error {
	all := months(time.Now())
	month := cmp.Or(v.r.URL.Query().Get("month"), all[0])
	found, err := v.api.WithPages(pageSize).Usage(v.r.Context(), "", month, usage.Month, v.after())
	if err != nil {
		return err
	}
	l := listOf(v, "usage", found)
	l.Filter["month"], l.Roles = month, all
	return v.show("usage-all", v.view("Usage", l))
}
