package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/internal/usage"
)

// A Usage is what a tenant, or a version of one of its providers, has used in a period. Requests of clients are in rows without
// a provider; a row with one has its calls, and what they have used.
type Usage struct {
	Tenant   string    `json:"tenant"`
	Provider string    `json:"provider,omitempty"`
	Version  int       `json:"version,omitempty"` // missing for a provider with a module
	Begin    time.Time `json:"begin"`             // of the hour, day or month, in UTC
	OK       uint64    `json:"ok"`                // requests or calls that were answered
	Refused  uint64    `json:"refused"`           // what was asked is not there, not allowed, or makes no sense
	Limited  uint64    `json:"limited"`           // a limit refused them, for a time
	Failed   uint64    `json:"failed"`            // by a fault of the provider
	Fuel     uint64    `json:"fuel"`
	CPU      float64   `json:"cpuSeconds"` // of guests
	Starts   uint64    `json:"starts"`     // of processes
	Bytes    uint64    `json:"bytes"`      // of answers; with a provider, of its contents
	Memory   uint64    `json:"memoryByteSeconds"`
	Live     float64   `json:"liveSeconds"`     // of processes; the memory by these is the mean of a process
	Peak     uint64    `json:"peakMemoryBytes"` // most that one process used
	// Stored is the most that the tenant had on disk, and StoredTime all of it times for how long; of rows without a provider.
	Stored     *Storage `json:"storageBytes,omitempty"`
	StoredTime uint64   `json:"storageByteSeconds"`
}

// A Storage is what a tenant has on disk, in bytes: see [usage.Storage].
type Storage struct {
	Modules uint64 `json:"modules"`
	KV      uint64 `json:"kv"`
	Files   uint64 `json:"files"`
	Logs    uint64 `json:"logs"`
}

// UsageOf returns a row as the API has it.
func UsageOf(r *usage.Row) Usage {
	u := Usage{
		Tenant: r.Tenant, Provider: r.Provider, Version: r.Version, Begin: r.Begin,
		OK: r.Requests[usage.OK], Refused: r.Requests[usage.Refused], Limited: r.Requests[usage.Limited], Failed: r.Requests[usage.Failed],
		Fuel: r.Fuel, CPU: r.CPU.Seconds(), Starts: r.Starts, Bytes: r.Bytes, Memory: r.Memory,
		Live: r.Live.Seconds(), Peak: r.Peak, StoredTime: r.StoredTime,
	}
	if r.Stored != (usage.Storage{}) {
		u.Stored = &Storage{r.Stored.Modules, r.Stored.KV, r.Stored.Files, r.Stored.Logs}
	}
	return u
}

// listUsage answers what a tenant, or all, have used.
func (s *Server) listUsage(r *http.Request) (answer, error) {
	if s.cfg.Usage == nil {
		return answer{}, &Problem{Status: http.StatusServiceUnavailable, Code: CodeUnavailable, Detail: "this server counts no usage"}
	}
	p, err := pageOf(r)
	if err != nil {
		return answer{}, err
	}
	q, err := usageQuery(r.URL.Query())
	if err != nil {
		return answer{}, err
	}
	if q.After, err = usageCursor(p.after); err != nil {
		return answer{}, err
	}
	q.Tenant, q.Limit = r.PathValue("tenant"), p.limit+1
	if q.Tenant == "" {
		q.Tenant = callerOf(r.Context()).tenant
	}
	rows, err := s.cfg.Usage(r.Context(), q)
	if err != nil {
		return answer{}, fmt.Errorf("read usage: %w", err)
	}
	next := ""
	if len(rows) > p.limit {
		rows = rows[:p.limit]
		last := rows[p.limit-1]
		next = fmt.Sprintf("%d/%s/%s/%d", last.Begin.Unix(), last.Tenant, last.Provider, last.Version)
	}
	items := []Usage{}
	for i := range rows {
		items = append(items, UsageOf(&rows[i]))
	}
	return ok(Page[Usage]{items, next})
}

// usageQuery reads which rows are asked for.
func usageQuery(given url.Values) (q usage.Query, err error) {
	if q.From, q.To, err = ParseMonth(given.Get("month"), time.Now()); err != nil {
		return q, invalid("month %s: %v", clip(given.Get("month")), err)
	}
	switch q.By = usage.Period(given.Get("by")); q.By {
	case "", usage.Hour, usage.Day, usage.Month:
		return q, nil
	}
	return q, invalid("by %s: it is one of hour, day, month", strict.Clip(string(q.By)))
}

// ParseMonth reads a month, as in 2026-11; an empty text is the present one.
func ParseMonth(text string, now time.Time) (from, to time.Time, err error) {
	now = now.UTC()
	from = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if text != "" {
		if from, err = time.Parse("2006-01", text); err != nil {
			return from, to, fmt.Errorf("it is not a month: write it like %s", now.Format("2006-01"))
		}
	}
	return from, from.AddDate(0, 1, 0), nil
}

// usageCursor reads the cursor of a page; nil for the first.
func usageCursor(s string) (*usage.Row, error) {
	if s == "" {
		return nil, nil
	}
	parts := strings.Split(s, "/")
	if len(parts) != 4 {
		return nil, invalid("cursor %s: it is not one of this list", clip(s))
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	version, bad := strconv.Atoi(parts[3])
	if err != nil || bad != nil {
		return nil, invalid("cursor %s: it is not one of this list", clip(s))
	}
	return &usage.Row{Key: usage.Key{Tenant: parts[1], Provider: parts[2], Version: version}, Begin: time.Unix(at, 0)}, nil
}

// Usage returns a page of what a tenant has used in a month, by hour, day or month, after a cursor. An empty tenant is all, an
// empty month the present one, and an empty period the month.
func (c *Client) Usage(ctx context.Context, tenantID, month string, by usage.Period, cursor string) (p Page[Usage], err error) {
	path := "/v1/usage"
	if tenantID != "" {
		path = tenantPath(tenantID) + "/usage"
	}
	return p, c.do(ctx, http.MethodGet, path+"?"+c.pageQuery(cursor)+"&month="+url.QueryEscape(month)+"&by="+url.QueryEscape(string(by)), nil, &p)
}
