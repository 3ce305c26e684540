package hosting

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
)

const (
	topEvery  = time.Second
	topRows   = 50 // without a terminal
	topHeader = 3  // lines
)

// TopCommand returns the command top.
func TopCommand() *cli.Command {
	return &cli.Command{
		Name: "top", Usage: "show what the tenants of a running server do now",
		Description: `Shows the busiest tenants, and is drawn again each second until Ctrl+C. The numbers are those of the last
15 to 20 seconds. Without a terminal it prints one table.

   REQ/S    requests a second
   P99      the time that 99 of 100 requests did not exceed, to a factor of 1.5
   LIVE     providers with a process, of all
   MEM      memory of these processes
   LIMITED  requests that a limit refused
   QUEUE    calls that wait for a processor
   FAULTS   requests that failed by a fault of a guest`,
		Flags: serverFlags(
			&cli.BoolFlag{Name: "once", Usage: "print one table, and end"},
			cli.FormatFlag(cli.ReportFormats),
		),
		OnUsageError: cli.OnUsageError, Action: top,
	}
}

func top(c *cli.Context) error {
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if _, err := cli.Arguments(c); err != nil {
		return err
	}
	once := c.Bool("once") || format != cli.FormatTable || !terminal.CanRedraw(c.App.Writer)
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		if once {
			return printTop(ctx, c.App.Writer, s, format)
		}
		return drawTop(ctx, c.App.Writer, s)
	})
}

func printTop(ctx context.Context, w io.Writer, s *admin.Client, format string) error {
	now, err := s.Top(ctx, topRows)
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		return cli.PrintValue(w, format, now)
	}
	return writeTop(w, terminal.NewStyle(w), &now)
}

// drawTop draws the table again and again, until ctx ends.
func drawTop(ctx context.Context, w io.Writer, s *admin.Client) error {
	tick := time.NewTicker(topEvery)
	defer tick.Stop()
	for {
		rows := max(terminal.Height(w)-topHeader-1, 1)
		now, err := s.Top(ctx, min(rows, admin.MaxPage))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var screen bytes.Buffer // one write does not flicker
		screen.WriteString("\x1b[H\x1b[J")
		if err := writeTop(&screen, terminal.NewStyle(w), &now); err != nil {
			return err
		}
		if _, err := w.Write(screen.Bytes()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// writeTop writes a line about the server, and a table of its tenants.
func writeTop(w io.Writer, style terminal.Style, t *admin.Top) error {
	n := &t.Node
	line := fmt.Sprintf("wasmres %s, up %s, generation %d: %s", n.Version, t.Time.Sub(n.Started).Truncate(time.Second), n.Generation, terminal.Counted(n.Tenants, "tenant"))
	if n.Stale > 0 {
		line += fmt.Sprintf(" (%d stale)", n.Stale)
	}
	line += fmt.Sprintf(", %d live", n.Live)
	if n.Capacity > 0 {
		line += fmt.Sprintf(" of %d", n.Capacity)
	}
	if n.LiveBytes > 0 {
		line += ", " + terminal.Size(n.LiveBytes)
	}
	if len(n.Problems) > 0 {
		line += fmt.Sprintf(", %s: see /readyz or the log", terminal.Counted(len(n.Problems), "problem"))
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", style.Clip(terminal.Cell(line), style.Width)); err != nil {
		return err
	}
	rows := [][]string{{"TENANT", "REQ/S", "P99", "QUEUE", "LIVE", "MEM", "LIMITED", "FAULTS"}}
	for _, l := range t.Loads {
		rows = append(rows, []string{
			terminal.Cell(l.Tenant), strconv.FormatFloat(l.PerSecond, 'f', 1, 64), latency(l.P99Micros), strconv.Itoa(l.Waiting), fmt.Sprintf("%d/%d", l.Live, l.Providers),
			terminal.Size(l.Bytes), strconv.FormatUint(l.Limited, 10), strconv.FormatUint(l.Faults, 10),
		})
	}
	style.Figures(w, style.Fit(rows))
	return nil
}

// latency returns microseconds as milliseconds.
func latency(micros int64) string {
	if micros == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(micros)/1000, 'f', 1, 64) + "ms"
}
