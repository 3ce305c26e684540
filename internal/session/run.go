package session

import (
	"bytes"
	"context"
	"errors"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config says what to run. All but Match and Update are required.
type Config struct {
	Session *Session
	Host    *Host           // of Session, whose services the provider has
	Source  resource.Source // the provider
	// Match says whether to take a step, given its request's short form. Nil takes all.
	Match func(request string) bool
	// Update puts the answers into the session in place of comparing them.
	Update bool
}

// A Report says what became of the steps of a session.
type Report struct {
	Steps    int       `json:"steps"`    // that were run
	Skipped  int       `json:"skipped"`  // those that did not match
	Changed  int       `json:"recorded"` // whose answer is another one now; with Update only
	Failures []Failure `json:"failures"` // at most one of each step, and one of the start
}

// A Failure is a step that went wrong.
type Failure struct {
	Line    int    `json:"line,omitempty"` // of the file
	Step    string `json:"step"`           // the request's short form, or "start"
	Problem string `json:"problem"`
	Diff    string `json:"diff,omitempty"` // unified, from the answer that was expected to the one there was
}

// Run asks the provider step by step. An error says that the session could not be run to its end.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Session == nil || cfg.Host == nil || cfg.Source == nil {
		return nil, errors.New("session: Session, Host and Source are required")
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

// A run is one session under way.
type run struct {
	cfg    Config
	report *Report
}

func (r *run) fail(step *Step, problem, diff string) {
	r.report.Failures = append(r.report.Failures, Failure{
		Line: step.Line, Step: step.Request.String(), Problem: problem, Diff: diff,
	})
}

// start looks at what was asked of the host while the guest started.
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
	d := newStepHost(nil)
	if !r.cfg.Host.isLive() {
		d = newStepHost(step.Host)
	}
	got, err := r.ask(context.WithValue(ctx, stepKey{}, d), &step.Request)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.cfg.Host.mu.Lock() // the guest may not have ended with its answer
	problem, kept := d.problem, d.recorded()
	r.cfg.Host.mu.Unlock()
	switch {
	case err != nil:
		r.fail(step, err.Error(), "")
	case problem != "":
		r.fail(step, problem, difference(step.Want, got))
	case r.cfg.Update:
		r.update(step, got, kept)
	case step.Want == nil:
		r.fail(step, "no answer is recorded", "")
	case step.Want.String() != got.String():
		r.fail(step, "the answer is another one", difference(step.Want, got))
	}
	return nil
}

// update puts an answer into the session.
func (r *run) update(step *Step, got *Answer, kept []Exchange) {
	if step.Want == nil || step.Want.String() != got.String() {
		r.report.Changed++
	}
	step.Want = got
	if r.cfg.Host.isLive() {
		step.Host = kept
	}
}

// ask gives what a client of revision 2025-11-25 would get of a server that has not answered anything yet.
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
	_, out, _ = bytes.Cut(out, []byte("\n")) // which names both, as the next two lines do
	return string(out)
}
