package hosting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/textwidth"
)

// AuditCommand returns the command audit.
func AuditCommand() *cli.Command {
	const category = "Which ledger"
	return cli.Group(&cli.Command{
		Name: "audit", Usage: "verify and show the ledger of a server, which has what was decided and by whom",
		Description: `The server of 'wasmres serve' writes each change, each start and end, refused credentials and
denied capabilities into files that it signs. These commands read the files, and need no server.

   wasmres audit verify
   wasmres audit show --tenant acme --since 7d`,
		Subcommands: []*cli.Command{
			{
				Name: "verify", Usage: "check that no entry was changed, removed or put in", ArgsUsage: "[FOLDER]",
				Description: `Prints the first line that does not fit, and exits with status 1, or what the ledger has. Who can write to
the folder could cut off its end together with the heads there; the log of the server has the heads too:
give one with --head, and the key with --key.`,
				Flags: []cli.Flag{
					&cli.StringSliceFlag{Name: "head", Category: category, Usage: "the ledger must have this `HASH`, which the server has signed and logged; may be repeated"},
					&cli.StringFlag{Name: "key", Category: category, Usage: "this `KEY` of the server must have signed all heads, as in ed25519:MCow…"},
					DataFlag(category),
				},
				OnUsageError: cli.OnUsageError, Action: verifyLedger,
			},
			{
				Name: "show", Usage: "print entries, the oldest first", ArgsUsage: "[FOLDER]",
				Description: `Reads the files, or asks a running server if --socket or --url says so.`,
				Flags: serverFlags(
					&cli.StringFlag{Name: "tenant", Usage: "only entries of this `TENANT`"},
					&cli.StringFlag{Name: "actor", Usage: "only entries by this `ACTOR`, as they have it, as in 'uid 1000'"},
					&cli.StringFlag{Name: "action", Usage: "only entries of this `ACTION`, as in key.create; 'key.' is all that begin so"},
					&cli.StringFlag{Name: "since", Usage: "only entries since this `TIME`, as in 2026-11-01, 2026-11-01T12:00:00Z or 7d"},
					&cli.StringFlag{Name: "until", Usage: "only entries before this `TIME`"},
					&cli.BoolFlag{Name: "json", Usage: "print the lines of the files, which are JSON"},
				),
				OnUsageError: cli.OnUsageError, Action: showLedger,
			},
		},
	})
}

// ledgerDir returns the folder of a ledger: the argument, or a folder with that name in it, or the one in the server's data.
func ledgerDir(c *cli.Context) (string, error) {
	if c.NArg() > 1 {
		return "", cli.Usagef(c, "one argument too many: %q", c.Args().Get(1))
	}
	dir := c.Args().First()
	if dir == "" {
		var err error
		if dir, err = DataDir(c); err != nil {
			return "", err
		}
	}
	if inner := filepath.Join(dir, "ledger"); isDir(inner) {
		return inner, nil
	}
	if !isDir(dir) {
		return "", fmt.Errorf("there is no ledger at %s: name its folder, or that of the server's data with --data", dir)
	}
	return dir, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func verifyLedger(c *cli.Context) error {
	dir, err := ledgerDir(c)
	if err != nil {
		return err
	}
	expect := ledger.Expect{Key: c.String("key")}
	for _, given := range c.StringSlice("head") {
		h, err := ledger.ParseHash(given)
		if err != nil {
			return cli.Usagef(c, "--head: %w", err)
		}
		expect.Heads = append(expect.Heads, h)
	}
	r, err := ledger.Verify(c.Context, dir, expect)
	if err != nil {
		return explainLedger(err)
	}
	if r.Entries == 0 {
		fmt.Fprintln(c.App.Writer, "ok 0 entries")
		return nil
	}
	fmt.Fprintf(c.App.Writer, "ok %s entries, %s … %s, head %s\n", terminal.Grouped(r.Entries), r.First.Format(time.DateOnly), r.Last.Format(time.DateOnly), r.Head)
	fmt.Fprintf(c.App.ErrWriter, "Signed up to entry %s by %s.\n", terminal.Grouped(r.Signed), terminal.Cell(strings.Join(r.Keys, ", ")))
	if r.Unended > 0 {
		fmt.Fprintf(c.App.ErrWriter, "The last line was not written to its end (%d bytes): the server was killed, or is writing it.\n", r.Unended)
	}
	return nil
}

// explainLedger adds to the error of a ledger what to do.
func explainLedger(err error) error {
	var damage *ledger.DamageError
	switch {
	case errors.As(err, &damage):
		return fmt.Errorf("the ledger is not as the server wrote it: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run the command as the user of the server, or as root", err)
	}
	return err
}

func showLedger(c *cli.Context) error {
	q, err := ledgerQuery(c, time.Now())
	if err != nil {
		return err
	}
	out, width := bufio.NewWriter(c.App.Writer), terminal.Width(c.App.Writer)
	var text []byte
	print := func(l *ledger.Line) error {
		if !q.Fits(l) {
			return c.Context.Err()
		}
		if c.Bool("json") {
			text = l.Append(text[:0])
			_, err := out.Write(text)
			return err
		}
		return printEntry(out, width, l)
	}
	if c.String("socket") != "" || c.String("url") != "" {
		return errors.Join(askLedger(c, q, print), out.Flush())
	}
	dir, err := ledgerDir(c)
	if err != nil {
		return err
	}
	return errors.Join(explainLedger(ledger.Read(dir, print)), out.Flush())
}

// askLedger gives the entries that a server has to do.
func askLedger(c *cli.Context, q ledger.Query, do func(*ledger.Line) error) error {
	if c.NArg() > 0 {
		return cli.Usagef(c, "a folder excludes --socket and --url")
	}
	return ask(c, func(ctx context.Context, s *admin.Client) error {
		for cursor, last := "", uint64(0); ; {
			page, err := s.Audit(ctx, q, cursor)
			if err != nil {
				return err
			}
			for i := range page.Items {
				l, err := page.Items[i].Line()
				if err == nil && l.Seq <= last {
					err = errors.New("the server repeats the pages of its ledger")
				}
				if err != nil {
					return err
				}
				last = l.Seq
				if err := do(l); err != nil {
					return err
				}
			}
			if page.Next == "" {
				return nil
			}
			if page.Next == cursor {
				return errors.New("the server repeats the pages of its ledger")
			}
			cursor = page.Next
		}
	})
}

// ledgerQuery reads the flags.
func ledgerQuery(c *cli.Context, now time.Time) (q ledger.Query, err error) {
	q = ledger.Query{Tenant: c.String("tenant"), Actor: c.String("actor"), Action: c.String("action")}
	if q.From, err = givenTime(c, "since", now); err != nil {
		return q, err
	}
	q.To, err = givenTime(c, "until", now)
	return q, err
}

// givenTime reads the flag with a name; zero for none.
func givenTime(c *cli.Context, name string, now time.Time) (time.Time, error) {
	given := c.String(name)
	if given == "" {
		return time.Time{}, nil
	}
	for _, format := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(format, given); err == nil {
			return t, nil
		}
	}
	d, err := cli.ParseDays(given)
	if err != nil {
		return time.Time{}, cli.Usagef(c, "--%s: %q is not a time: write it like 2026-11-01, 2026-11-01T12:00:00Z or 7d", name, given)
	}
	return now.Add(-d), nil
}

// printEntry prints an entry on a line, with what has changed of an object; on several if the line would exceed the columns of a
// terminal; 0 for none. What it has may be foreign.
func printEntry(w io.Writer, columns int, l *ledger.Line) error {
	who := l.Actor
	if l.Via != "" {
		who += " (" + l.Via + ")"
	}
	at := l.Time.Format(time.RFC3339)
	line := fmt.Sprintf("%-20s %-12s %-20s %s", terminal.Cell(who), terminal.Cell(orDash(l.Tenant)), terminal.Cell(l.Action), terminal.Cell(l.Object))
	was, is := difference(l.Before, l.After)
	for _, more := range []struct{ mark, text string }{{"was", was}, {"is", is}, {"outcome", l.Outcome}} {
		if more.text != "" {
			line += "  " + more.mark + " " + terminal.Cell(more.text)
		}
	}
	line = strings.TrimRight(line, " ")
	indent := len(at) + terminal.ColumnGap
	if columns > 0 && indent+textwidth.Of(line) > columns {
		terminal.Style{Width: columns}.Paragraph(w, at, indent, line)
		return nil
	}
	_, err := fmt.Fprintf(w, "%s  %s\n", at, line)
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
