package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
)

// PromoteCommand returns the command promote.
func PromoteCommand() *cli.Command {
	return &cli.Command{
		Name: "promote", Usage: "have a version serve all clients", ArgsUsage: "TENANT/PROVIDER@VERSION",
		Description: `If another version is on trial, the exit status is 4 and nothing changes: end that trial first. So it is
if another deployer changes the route at the same time.`,
		Flags: serverFlags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError,
		Action: onRoute(mustHaveNumber, func(ctx context.Context, s *admin.Client, of versionName, now admin.Route) (admin.Route, error) {
			if now.Canary != 0 && now.Canary != of.number {
				return now, cli.Conflict(fmt.Errorf("version %d is on trial: 'wasmres rollback %s/%s@%d' ends that",
					now.Canary, of.tenant, of.provider, now.Canary))
			}
			return s.Promote(ctx, of.tenant, of.provider, of.number, now.Tag)
		}),
	}
}

// RollbackCommand returns the command rollback.
func RollbackCommand() *cli.Command {
	return &cli.Command{
		Name: "rollback", Usage: "end the canary of a provider, or return to the version before", ArgsUsage: "TENANT/PROVIDER[@VERSION]",
		Description: `With a VERSION, only that one is taken back: if another deployer has done so already, the exit status is 4
and nothing changes. Without one, a second rollback returns to what the first has left.`,
		Flags: serverFlags(cli.FormatFlag(cli.ReportFormats)), OnUsageError: cli.OnUsageError,
		Action: onRoute(mayHaveNumber, func(ctx context.Context, s *admin.Client, of versionName, now admin.Route) (admin.Route, error) {
			if served := servedOf(now); of.number != 0 && of.number != served {
				return now, cli.Conflict(fmt.Errorf("version %d is not what a rollback would take back, but %s is: 'wasmres version list %s/%s' shows what serves",
					of.number, orNone(served), of.tenant, of.provider))
			}
			return s.Rollback(ctx, of.tenant, of.provider, now.Tag)
		}),
	}
}

// servedOf returns the version that a rollback takes back; 0 for none.
func servedOf(r admin.Route) int {
	if r.Canary != 0 {
		return r.Canary
	}
	return r.Active
}

func orNone(version int) string {
	if version == 0 {
		return "none"
	}
	return fmt.Sprint("version ", version)
}

// onRoute is the action of a command that changes a route. do gets the present one and requires its tag, so that it changes none that
// the command has not seen.
func onRoute(number numbered, do func(context.Context, *admin.Client, versionName, admin.Route) (admin.Route, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		format, of, err := formatAndVersion(c, number)
		if err != nil {
			return err
		}
		return ask(c, func(ctx context.Context, s *admin.Client) error {
			before, err := s.Route(ctx, of.tenant, of.provider)
			if err != nil {
				return err
			}
			began := time.Now()
			after, err := do(ctx, s, of, before)
			if err != nil {
				return err
			}
			took := time.Since(began)
			if format != cli.FormatTable {
				return cli.PrintValue(c.App.Writer, format, after)
			}
			_, err = fmt.Fprintln(c.App.Writer, routeLine(before, after, took))
			return err
		})
	}
}

// routeLine says what a change of a route has changed, in took.
func routeLine(before, after admin.Route, took time.Duration) string {
	line := fmt.Sprintf("active    %d", after.Active)
	var more []string
	switch {
	case after.Active != before.Active && before.Active != 0:
		more = append(more, fmt.Sprintf("was %d", before.Active))
	case before.Canary != 0 && after.Canary == 0:
		more = append(more, fmt.Sprintf("the canary was %d", before.Canary))
	}
	if t := after.Trial; t != nil && t.Version == before.Canary {
		more = append(more, trialText(t))
	}
	if len(more) > 0 {
		line += " (" + strings.Join(more, "; ") + ")"
	}
	return fmt.Sprintf("%s, %s, %s moved", line, millis(took), terminal.Numbered(after.Watchers, "watcher", "watchers"))
}

// trialText says what was counted of a canary.
func trialText(t *admin.Trial) string {
	text := fmt.Sprintf("%s on the canary, %s", terminal.Numbered(t.Canary.Calls, "call", "calls"), terminal.Numbered(t.Canary.Faults, "fault", "faults"))
	if t.Canary.P99Micros > 0 {
		text += ", p99 " + millis(time.Duration(t.Canary.P99Micros)*time.Microsecond)
		if t.Active.P99Micros > 0 {
			text += " against " + millis(time.Duration(t.Active.P99Micros)*time.Microsecond)
		}
	}
	return text
}

// millis is a time for a person, as in "1.9 ms" or "2.1 s".
func millis(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// workOn says what the server has done with a version; empty for nothing yet.
func workOn(v *admin.Version) (text string) {
	if v.CompileMs > 0 {
		text += ", compiled in " + millis(time.Duration(v.CompileMs)*time.Millisecond)
	}
	var report struct{ Read, Errors, Warnings *int }
	if json.Unmarshal(v.Report, &report) == nil && report.Read != nil && report.Errors != nil && report.Warnings != nil {
		text += fmt.Sprintf(", tried: %s, %s", terminal.Numbered(*report.Read, "read", "reads"), terminal.Numbered(*report.Errors+*report.Warnings, "finding", "findings"))
	}
	return text
}

// reasonsOf returns why a provider asks for capabilities, in its own words.
func reasonsOf(v *admin.Version) (lines []string) {
	var manifest struct {
		Capabilities []struct{ Name, Reason string }
	}
	if json.Unmarshal(v.Manifest, &manifest) != nil {
		return nil
	}
	for _, of := range manifest.Capabilities {
		if of.Reason != "" {
			lines = append(lines, fmt.Sprintf("%s: %q", of.Name, of.Reason))
		}
	}
	return lines
}

const (
	firstLook = 20 * time.Millisecond
	maxLook   = time.Second
	maxAbsent = 30 * time.Second // for which a server that is waited for may be away, as while it is started again
)

// A watch follows one version until its end is known.
type watch struct {
	c        *cli.Context
	s        *admin.Client
	line     terminal.Progress
	version  admin.Version
	isCanary bool // as which it was pushed

	shown string       // of the last state that was printed
	trial *admin.Trial // the last one that was seen; nil for none
	was   int          // the active version before it
}

// await waits until the server has done with a version what it can do alone, and if it is a canary, until that is promoted or
// taken back. It prints each state on the way, and the version at the end.
func await(c *cli.Context, s *admin.Client, format string, v admin.Version, isCanary bool) error {
	most := c.Duration("timeout")
	ctx, cancel := context.WithTimeoutCause(c.Context, most, fmt.Errorf("no decision after %v", most))
	defer cancel()
	w := &watch{c: c, s: s, line: terminal.NewProgress(c.App.ErrWriter), version: v, isCanary: isCanary}
	err := w.follow(ctx)
	w.line.Clear()
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %s is %s", context.Cause(ctx), nameOf(&w.version), placeOf(&w.version))
	}
	if printed := printVersion(c, format, &w.version); err == nil {
		err = printed
	}
	if err == nil && format == cli.FormatTable && w.trial != nil && w.version.Route == "active" {
		_, err = fmt.Fprintf(c.App.Writer, "promoted  (was %d; %s)\n", w.was, trialText(w.trial))
	}
	if err != nil {
		return err
	}
	return failureOf(&w.version)
}

func nameOf(v *admin.Version) string {
	return terminal.Cell(fmt.Sprintf("%s/%s@%d", v.Tenant, v.Provider, v.Number))
}

// placeOf says where a version is, for a person.
func placeOf(v *admin.Version) string {
	if v.Route != "" {
		return v.Route
	}
	return string(v.State)
}

// follow looks at the version again and again, until nothing more is to be waited for.
func (w *watch) follow(ctx context.Context) error {
	w.shown = string(w.version.State)
	seen := time.Now()
	for wait := firstLook; ; wait = min(2*wait, maxLook) {
		done, err := w.look(ctx)
		switch {
		case errors.Is(err, admin.ErrUnreachable) && time.Since(seen) < maxAbsent:
			w.line.Show("no server answers, waiting for it")
		case err != nil || done:
			return err
		default:
			seen = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// look asks for the version, and reports whether the wait is over.
func (w *watch) look(ctx context.Context) (done bool, err error) {
	v, err := w.s.Version(ctx, w.version.Tenant, w.version.Provider, w.version.Number)
	if err != nil {
		return false, fmt.Errorf("wait for version %d: %w", w.version.Number, err)
	}
	w.version = v
	switch {
	case v.Route == "canary": // its share is noted
	case v.State == tenant.StateApproved:
		w.note(placeOf(&v))
	default:
		w.note(string(v.State))
	}
	switch v.State {
	case tenant.StatePushed, tenant.StateAdmitted, tenant.StateCompiled, tenant.StateTried:
		w.line.Show("%s: %s", nameOf(&v), v.State)
		return false, nil
	case tenant.StateApproved:
		return w.lookAtTrial(ctx)
	}
	return true, nil
}

// note prints a state that is another one than the last.
func (w *watch) note(state string) {
	if state == w.shown {
		return
	}
	w.shown = state
	w.line.Clear()
	fmt.Fprintf(w.c.App.ErrWriter, "%s %s\n", state, nameOf(&w.version))
}

// lookAtTrial asks for the route of an approved version, and reports whether the wait is over.
func (w *watch) lookAtTrial(ctx context.Context) (done bool, err error) {
	v := &w.version
	if !w.isCanary || v.Route == "active" {
		return true, nil
	}
	r, err := w.s.Route(ctx, v.Tenant, v.Provider)
	switch {
	case err != nil:
		return false, fmt.Errorf("wait for version %d: %w", v.Number, err)
	case r.Active == v.Number:
		v.Route = "active"
		w.note(v.Route)
		return true, nil
	case r.Canary == v.Number:
		w.was = r.Active
		if r.Trial != nil && r.Trial.Version == v.Number {
			w.trial = r.Trial
		}
		w.note(fmt.Sprintf("canary %d%%", r.Share))
		w.showTrial(&r)
		return false, nil
	}
	latest, err := w.s.Version(ctx, v.Tenant, v.Provider, v.Number) // which may have failed since it was seen
	if err != nil {
		return false, err
	}
	if *v = latest; v.State != tenant.StateApproved {
		return true, nil
	}
	return true, fmt.Errorf("version %d was taken back by %s: %s is active", v.Number, terminal.Cell(r.Changer), orNone(r.Active))
}

// showTrial shows what is known of the canary, on a terminal.
func (w *watch) showTrial(r *admin.Route) {
	text := "no calls yet"
	switch t := w.trial; {
	case t == nil:
	case t.Problem != "":
		text = "not loaded: " + t.Problem
	case t.Canary.Calls > 0:
		text = trialText(t)
	}
	w.line.Show("%s: canary of %d%%, %s", nameOf(&w.version), r.Share, text)
}
