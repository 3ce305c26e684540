package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// A Period is what the rows of an answer cover.
type Period string

// The periods.
const (
	Hour  Period = "hour"
	Day   Period = "day"
	Month Period = "month"
)

// A Row is what was used in a period.
type Row struct {
	Key
	Begin time.Time // of the period, in UTC
	Totals
}

// A Query says which rows to read.
type Query struct {
	From, To time.Time // hours that begin from From on, before To
	Tenant   string    // empty for all
	By       Period    // empty for Month
	After    *Row      // of which the Key and Begin count: rows behind it; nil for the first
	Limit    int       // the most rows; zero for all
}

// Read reads rows, ordered by period, tenant, provider and version, of what was counted until now.
func (b *Book) Read(ctx context.Context, q Query) ([]Row, error) {
	if err := b.Flush(ctx); err != nil {
		return nil, err
	}
	return query(ctx, b.db, q)
}

// ReadFile reads rows of a file, which a server may have open. What the server has counted since its last flush is missing.
func ReadFile(ctx context.Context, file string, q Query) (_ []Row, err error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", source(file, "mode=ro&_pragma=query_only(on)"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	version, err := versionOf(ctx, db)
	if err == nil && version == 1 {
		err = errors.New("an older wasmres has written it: start the server, which brings it up to date")
	}
	if err != nil || version == 0 {
		return nil, err
	}
	return query(ctx, db, q)
}

// begins has the SQL that gives the begin of a period.
var begins = map[Period]string{
	Hour: `hour`, Day: `hour - hour % 86400`, Month: `unixepoch(hour, 'unixepoch', 'start of month')`,
}

func query(ctx context.Context, db *sql.DB, q Query) (rows []Row, err error) {
	if q.By == "" {
		q.By = Month
	}
	begin := begins[q.By]
	if begin == "" {
		return nil, fmt.Errorf("there is no period %q", q.By)
	}
	text := `SELECT ` + begin + ` AS begin, tenant, provider, version, sum(ok), sum(refused), sum(limited), sum(failed),
		sum(fuel), sum(cpu), sum(starts), sum(bytes), sum(memory),
		sum(live), max(peak), max(modules), max(kv), max(files), max(logs), sum(stored) FROM usage WHERE hour >= ? AND hour < ?`
	args := []any{q.From.Unix(), q.To.Unix()}
	if q.Tenant != "" {
		text += ` AND tenant = ?`
		args = append(args, q.Tenant)
	}
	if q.After != nil {
		text += ` AND (` + begin + `, tenant, provider, version) > (?, ?, ?, ?)`
		args = append(args, q.After.Begin.Unix(), q.After.Tenant, q.After.Provider, q.After.Version)
	}
	text += ` GROUP BY begin, tenant, provider, version ORDER BY begin, tenant, provider, version`
	if q.Limit > 0 {
		text += ` LIMIT ?`
		args = append(args, q.Limit)
	}
	found, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var r Row
		var at int64
		var n [16]int64
		to := []any{&at, &r.Tenant, &r.Provider, &r.Version}
		for i := range n {
			to = append(to, &n[i])
		}
		if err := found.Scan(to...); err != nil {
			return nil, err
		}
		r.Begin = time.Unix(at, 0).UTC()
		for i := range r.Requests {
			r.Requests[i] = uint64(n[i])
		}
		r.Fuel, r.CPU, r.Starts, r.Bytes, r.Memory = uint64(n[4]), time.Duration(n[5]), uint64(n[6]), uint64(n[7]), uint64(n[8])
		r.Live, r.Peak, r.StoredTime = time.Duration(n[9]), uint64(n[10]), uint64(n[15])
		r.Stored = Storage{uint64(n[11]), uint64(n[12]), uint64(n[13]), uint64(n[14])}
		rows = append(rows, r)
	}
	return rows, found.Err()
}
