package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config says what [Run] runs. Match and Update are optional.
type Config struct {
	Session *Session
	Host    *Host           // made for Session; the provider has its services
	Source  resource.Source // the provider
	// Replay runs a recorded call again: that of the provider. Nil fails the steps that are crashes.
	Replay func(ctx context.Context, r *runtime.Replay) (*abi.Reply, runtime.Usage, error)
	Digest string // of the provider's module; empty if unknown
	// Match reports whether to run a step, given the short form of its request. Nil runs all steps.
	Match func(request string) bool
	// Update writes the answers into Session and does not compare them.
	Update bool
}

// A Report has the result of a run.
type Report struct {
	Steps    int           `json:"steps"`             // steps that ran
	Skipped  int           `json:"skipped"`           // steps that Match excluded
	Changed  int           `json:"recorded"`          // steps whose answer differs from the recorded one; only with Update
	Failures []Failure     `json:"failures"`          // at most one for each step and one for the start
	Crashes  []CrashReport `json:"crashes,omitempty"` // that came again as they are recorded
}

// A CrashReport is a crash that came again: with the same code, fuel and functions, unless it is inexact.
type CrashReport struct {
	Line    int    `json:"line,omitempty"` // in the file, from 1; 0 for none
	Step    string `json:"step"`           // the request's short form
	Code    string `json:"code"`
	Fuel    uint64 `json:"fuel"`
	Err     string `json:"error"`             // with the functions that were running, innermost first
	Inexact string `json:"inexact,omitempty"` // why only the code was compared
}

// A Failure is a step that failed.
type Failure struct {
	Line    int    `json:"line,omitempty"` // line in the file, from 1; 0 for none
	Step    string `json:"step"`           // the request's short form, or "start"
	Problem string `json:"problem"`
	Diff    string `json:"diff,omitempty"` // unified diff from the expected answer to the received one; may be empty
}

// Run sends the requests of a session to the provider, one after the other. An error means that the run did not reach the
// end: ctx has ended, or Config is incomplete. A step that fails is no error but a [Failure].
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Session == nil || cfg.Host == nil || cfg.Source == nil {
		return nil, errors.New("run session: Config.Session, Host and Source are required")
	}
	r := &run{cfg: cfg, report: &Report{Failures: []Failure{}}}
	r.start()
	for _, step := range cfg.Session.Steps {
		if cfg.Match != nil && !cfg.Match(step.Request.String()) {
			r.report.Skipped++
			continue
		}
		r.report.Steps++
		if err := r.step(ctx, step); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// A run is one call of Run.
type run struct {
	cfg    Config
	report *Report
}

func (r *run) fail(step *Step, problem, diff string) {
	r.report.Failures = append(r.report.Failures, Failure{
		Line: step.Line, Step: step.Request.String(), Problem: problem, Diff: diff,
	})
}

// start reports and records the questions from the start of the guest.
func (r *run) start() {
	h := r.cfg.Host
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.starting.problem != "" {
		r.report.Failures = append(r.report.Failures, Failure{Step: "start", Problem: h.starting.problem})
	}
	if r.cfg.Update && h.isLive() {
		r.cfg.Session.Host, r.cfg.Session.Grants.Capabilities = h.starting.recorded(), h.live
	}
}

// step runs one step. An error ends the run.
func (r *run) step(ctx context.Context, step *Step) error {
	host := newStepHost(nil)
	if !r.cfg.Host.isLive() {
		host = newStepHost(step.Host)
	}
	ctx = context.WithValue(ctx, stepKey{}, host)
	if step.Crash != nil {
		return r.crash(ctx, step, host)
	}
	got, err := r.ask(ctx, &step.Request)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.cfg.Host.mu.Lock() // the guest may still run after its answer
	problem, recorded := host.problem, host.recorded()
	r.cfg.Host.mu.Unlock()
	switch {
	case err != nil:
		r.fail(step, err.Error(), "")
	case problem != "":
		r.fail(step, problem, difference(step.Want, got))
	case r.cfg.Update:
		r.update(step, got, recorded)
	case step.Want == nil:
		r.fail(step, "no answer is recorded: record the session", "")
	case step.Want.String() != got.String():
		r.fail(step, "the answer differs from the recorded one", difference(step.Want, got))
	}
	return nil
}

// crash runs a call that has crashed again, and compares the ends. An error ends the run.
func (r *run) crash(ctx context.Context, step *Step, host *stepHost) error {
	if r.cfg.Update || r.cfg.Replay == nil {
		r.fail(step, "a crash cannot be recorded: run the session without --record", "")
		return nil
	}
	_, used, err := r.cfg.Replay(ctx, step.Crash.replay())
	if err := ctx.Err(); err != nil {
		return err
	}
	r.cfg.Host.mu.Lock()
	problem := host.problem
	r.cfg.Host.mu.Unlock()
	different := step.Crash.differences(used, err)
	switch {
	case different == "":
		r.report.Crashes = append(r.report.Crashes, CrashReport{
			Line: step.Line, Step: step.Request.String(), Code: used.Code.String(), Fuel: used.Fuel, Err: errorText(err), Inexact: step.Crash.Inexact,
		})
		return nil
	case err == nil && step.Crash.Code != abi.CodeOK:
		different = "the call did not crash, and answered"
	}
	if problem != "" {
		different += "; " + problem
	}
	if r.cfg.Digest != "" && step.Crash.Digest != "" && r.cfg.Digest != step.Crash.Digest {
		different += "; the module is another one: it has the digest " + r.cfg.Digest + ", and the one that crashed " + step.Crash.Digest
	}
	r.fail(step, different, "")
	return nil
}

// errorText says where and why a call crashed.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if crash := abi.CrashOf(err); crash != nil {
		return fmt.Sprintf("%v: %s: %s", err, crash.Reason, formatStack(crash.Stack))
	}
	return err.Error()
}

// update writes an answer into the session.
func (r *run) update(step *Step, got *Answer, recorded []Exchange) {
	if step.Want == nil || step.Want.String() != got.String() {
		r.report.Changed++
	}
	step.Want = got
	if r.cfg.Host.isLive() {
		step.Host = recorded
	}
}

// ask returns the answer a client of revision 2025-11-25 gets. Each request has a core of its own, so that no answer
// comes from a page that another step has cached.
func (r *run) ask(ctx context.Context, request *Request) (*Answer, error) {
	server, err := runtime.NewServer(r.cfg.Source, &runtime.ServerOptions{Name: "session", Version: "0"})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	method, params := request.call()
	result, err := server.Call(ctx, method, params)
	var failed *runtime.RPCError
	switch {
	case errors.As(err, &failed):
		return errorAnswer(failed)
	case err != nil:
		return nil, err
	}
	return resultAnswer(result)
}

// difference shows how two answers differ; want may be nil.
func difference(want, got *Answer) string {
	if want == nil {
		return ""
	}
	out := diff.Diff("expected", []byte(want.String()), "got", []byte(got.String()))
	_, out, _ = bytes.Cut(out, []byte("\n")) // names both files, as the next two lines do
	return string(out)
}
