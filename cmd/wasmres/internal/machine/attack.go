package machine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/runtime"
)

// errPromiseBroken is the error if an attack did what it must not.
var errPromiseBroken = errors.New("this installation does not keep all promises of SECURITY.md: see above")

// attackFlags returns the flags of the attacks.
func attackFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "attack", Usage: "make all attacks of the corpus of hostile modules on this machine, for some minutes"},
		&cli.StringSliceFlag{Name: "class", Usage: "make only the attacks of the class `NAME`; may be repeated"},
	}
}

// attack makes the attacks, and prints how each ended.
func attack(c *cli.Context, format string) error {
	cfg, err := providers.Config(c, "", cli.PlainLog)
	if err != nil {
		return err
	}
	host := app.HostConfig(cfg)
	host.Logger = nil // the attacks fail by the hundred, as they should
	var s survey
	show := func(runtime.AttackResult) {}
	if format == cli.FormatTable {
		show = newAttackLines(c).print
	}
	err = runtime.Attack(c.Context, host, c.StringSlice("class"), func(r runtime.AttackResult) {
		s.add(r)
		show(r)
	})
	if err != nil {
		return err
	}
	if format != cli.FormatTable {
		err = cli.PrintValue(c.App.Writer, format, s)
	} else {
		_, err = fmt.Fprintln(c.App.Writer, s)
	}
	if err == nil && s.Broken > 0 {
		err = errPromiseBroken
	}
	return err
}

// A survey has the results of all attacks.
type survey struct {
	Attacks []runtime.AttackResult `json:"attacks"`
	Broken  int                    `json:"broken"`    // attacks that broke a promise
	Reads   int                    `json:"reads"`     // of the honest provider
	Longest float64                `json:"longestMs"` // of them
}

func (s *survey) add(r runtime.AttackResult) {
	s.Attacks = append(s.Attacks, r)
	s.Reads += r.Reads
	s.Longest = max(s.Longest, r.Longest)
	if len(r.Broken) > 0 {
		s.Broken++
	}
}

// String returns the last line of the report.
func (s survey) String() string {
	held := "every promise held"
	if s.Broken > 0 {
		held = terminal.Numbered(s.Broken, "attack broke a promise", "attacks broke promises")
	}
	return fmt.Sprintf("%d attacks: %s; meanwhile another provider answered %d reads, the slowest within %.0f ms", len(s.Attacks), held, s.Reads, s.Longest)
}

// Widths of the columns of attackLines in front of the reason. Longer texts move the rest of their line.
const (
	nameWidth = 25
	endsWidth = 9
)

// attackLines prints a line for each attack as soon as it has ended, and on a terminal which one is under way.
type attackLines struct {
	c        *cli.Context
	style    terminal.Style
	progress terminal.Progress
	class    string // of the line before
}

func newAttackLines(c *cli.Context) *attackLines {
	return &attackLines{c: c, style: terminal.NewStyle(c.App.Writer), progress: terminal.NewProgress(c.App.ErrWriter)}
}

func (l *attackLines) print(r runtime.AttackResult) {
	l.progress.Clear()
	if r.Class != l.class {
		fmt.Fprintf(l.c.App.Writer, "%s\n", r.Class)
		l.class = r.Class
	}
	status := "held"
	if len(r.Broken) > 0 {
		status = "BROKEN"
	}
	line := fmt.Sprintf("  %-6s  %-*s  %-*s %5.0f ms  %s", status, nameWidth, r.Name, endsWidth, strings.Join(r.Ends, ", "), r.Took, r.Why)
	if terminal.IsTerminal(l.c.App.Writer) {
		line = l.style.Clip(line, l.style.Width)
	}
	fmt.Fprintln(l.c.App.Writer, line)
	for _, b := range r.Broken {
		l.style.Paragraph(l.c.App.Writer, "          ", 10, b)
	}
	l.progress.Show("%d of %d attacks", r.Number, r.Of)
	if r.Number == r.Of {
		l.progress.Clear()
	}
}
