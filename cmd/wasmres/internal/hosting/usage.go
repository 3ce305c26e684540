package hosting

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/usage"
)

// UsageCommand returns the command usage.
func UsageCommand() *cli.Command {
	return &cli.Command{
		Name: "usage", Usage: "print what tenants have used, for bills",
		Description: `Asks a running server. If none answers, the command reads the file usage.db in the folder of --data, which
lacks at most the last ten seconds before the server was killed. A row without a provider has the requests of clients; one
with a provider has the calls of that, and what they have used.

   wasmres usage --month 2026-11 --format csv > bill.csv
   wasmres usage --tenant acme --by day`,
		Flags: serverFlags(
			&cli.StringFlag{Name: "month", Usage: "of this `MONTH`, as in 2026-11 (default: the present one)"},
			&cli.StringFlag{Name: "tenant", Usage: "of this `TENANT` only"},
			cli.Choice(&cli.StringFlag{Name: "by", Value: string(usage.Month), Usage: "a row for each `PERIOD`: hour, day or month"}, "hour", "day", "month"),
			cli.Choice(&cli.StringFlag{Name: "format", Value: cli.FormatTable, Usage: "print as `FORMAT`: table, csv or json"}, "table", "csv", "json"),
		),
		OnUsageError: cli.OnUsageError, Action: showUsage,
	}
}

func showUsage(c *cli.Context) error {
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	q, err := usageQuery(c)
	if err != nil {
		return err
	}
	print := map[string]func(*cli.Context, []admin.Usage) error{cli.FormatTable: usageTable, "csv": usageCSV, "json": usageJSON}[c.String("format")]
	if print == nil {
		return cli.Usagef(c, "--format %s: it is one of table, csv, json", c.String("format"))
	}
	var rows []admin.Usage
	err = ask(c, func(ctx context.Context, s *admin.Client) (err error) {
		rows, err = everyUsage(ctx, s, c, q)
		return err
	})
	if errors.Is(err, admin.ErrUnreachable) && c.String("socket") == "" {
		rows, err = readUsage(c, q, err)
	}
	if err != nil {
		return err
	}
	return print(c, rows)
}

// usageQuery reads the flags.
func usageQuery(c *cli.Context) (q usage.Query, err error) {
	if q.From, q.To, err = admin.ParseMonth(c.String("month"), time.Now()); err != nil {
		return q, cli.Usagef(c, "--month %s: %w", c.String("month"), err)
	}
	q.Tenant, q.By = c.String("tenant"), usage.Period(c.String("by"))
	switch q.By {
	case usage.Hour, usage.Day, usage.Month:
		return q, nil
	}
	return q, cli.Usagef(c, "--by %s: it is one of hour, day, month", q.By)
}

// everyUsage returns all rows that a server has.
func everyUsage(ctx context.Context, s *admin.Client, c *cli.Context, q usage.Query) (all []admin.Usage, err error) {
	for cursor, seen := "", map[string]bool{}; !seen[cursor]; {
		seen[cursor] = true
		page, err := s.Usage(ctx, q.Tenant, q.From.Format("2006-01"), q.By, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
	return nil, errors.New("the server repeats the pages of its list")
}

// readUsage reads the file of a server that does not answer.
func readUsage(c *cli.Context, q usage.Query, unreachable error) ([]admin.Usage, error) {
	dir, err := DataDir(c)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, node.UsageFile)
	rows, err := usage.ReadFile(c.Context, file, q)
	if err != nil {
		return nil, fmt.Errorf("%w; and its file cannot be read: %w", unreachable, err)
	}
	fmt.Fprintf(c.App.ErrWriter, "No server answers; this is what %s has.\n", terminal.Cell(file))
	all := []admin.Usage{}
	for i := range rows {
		all = append(all, admin.UsageOf(&rows[i]))
	}
	return all, nil
}

func usageJSON(c *cli.Context, rows []admin.Usage) error {
	if rows == nil {
		rows = []admin.Usage{}
	}
	return cli.PrintValue(c.App.Writer, "json", rows)
}

func usageCSV(c *cli.Context, rows []admin.Usage) error {
	w := csv.NewWriter(c.App.Writer)
	_ = w.Write([]string{"begin", "tenant", "provider", "version", "ok", "refused", "limited", "failed", "fuel", "cpu_seconds", "starts", "bytes", "memory_byte_seconds",
		"live_seconds", "peak_memory_bytes", "storage_modules_bytes", "storage_kv_bytes", "storage_files_bytes", "storage_logs_bytes", "storage_byte_seconds"})
	for i := range rows {
		u := &rows[i]
		n := func(v uint64) string { return strconv.FormatUint(v, 10) }
		stored := storedOf(u)
		_ = w.Write([]string{
			u.Begin.Format(time.RFC3339), u.Tenant, u.Provider, versionText(u), n(u.OK), n(u.Refused), n(u.Limited), n(u.Failed), n(u.Fuel),
			strconv.FormatFloat(u.CPU, 'f', 6, 64), n(u.Starts), n(u.Bytes), n(u.Memory),
			strconv.FormatFloat(u.Live, 'f', 3, 64), n(u.Peak), n(stored.Modules), n(stored.KV), n(stored.Files), n(stored.Logs), n(u.StoredTime),
		})
	}
	w.Flush()
	return w.Error()
}

// storedOf returns what a tenant had on disk; nothing in the row of a provider.
func storedOf(u *admin.Usage) admin.Storage {
	if u.Stored == nil {
		return admin.Storage{}
	}
	return *u.Stored
}

// sizeOrDash returns a size; a dash for zero.
func sizeOrDash(bytes uint64) string {
	if bytes == 0 {
		return "-"
	}
	return terminal.Size(bytes)
}

// versionText returns the number of a version; empty for none.
func versionText(u *admin.Usage) string {
	if u.Version == 0 {
		return ""
	}
	return strconv.Itoa(u.Version)
}

func usageTable(c *cli.Context, rows []admin.Usage) error {
	format := map[string]string{string(usage.Hour): "2006-01-02T15:04Z", string(usage.Day): time.DateOnly, string(usage.Month): "2006-01"}[c.String("by")]
	var lines [][]string
	for i := range rows {
		u, stored := &rows[i], storedOf(&rows[i])
		lines = append(lines, []string{
			u.Begin.Format(format), u.Tenant, orDash(u.Provider), orDash(versionText(u)), terminal.Grouped(u.OK), terminal.Grouped(u.Refused),
			terminal.Grouped(u.Limited), terminal.Grouped(u.Failed), terminal.Grouped(u.Fuel), fmt.Sprintf("%.3fs", u.CPU), terminal.Grouped(u.Starts),
			terminal.Size(u.Bytes), fmt.Sprintf("%.3f", float64(u.Memory)/(1<<30)/3600), sizeOrDash(u.Peak), sizeOrDash(stored.Modules + stored.KV + stored.Files + stored.Logs),
		})
	}
	return terminal.PrintTable(c.App.Writer, []string{"BEGIN", "TENANT", "PROVIDER", "VERSION", "OK", "REFUSED", "LIMITED", "FAILED", "FUEL", "CPU", "STARTS", "BYTES", "GiB-HOURS", "PEAK", "STORAGE"}, lines)
}
