package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Host is what a guest asks in place of real services: it answers from a session, or asks them and keeps what they
// answer. It is safe for concurrent use.
type Host struct {
	session *Session
	records bool                   // what services answer that are granted
	environ bool                   // and so does that for configuration, about variables of the environment
	live    []string               // the capabilities of those; empty when the session answers
	shared  map[string][]*Exchange // by question: what is recorded for the start, and so for each step

	mu       sync.Mutex
	starting *desk // guarded by mu, as are the desks of steps
	bytes    int   // of what is kept; guarded by mu
}

// Replay makes a host that answers from s.
func Replay(s *Session) *Host {
	return &Host{session: s, shared: byQuestion(s.Host), starting: newDesk(nil)}
}

// Record makes a host that asks the services that are granted, and keeps what they answer until [Run] puts it into s in
// place of what is there. When none is granted it answers from s.
func Record(s *Session) *Host {
	h := Replay(s)
	h.records = true
	return h
}

// RecordEnvironment has a host that records keep variables of the environment too. Those that are granted are among what
// the service for configuration values gives. It is called before Services.
func (h *Host) RecordEnvironment() { h.environ = h.records }

// isLive reports whether services answer, and what they say is kept.
func (h *Host) isLive() bool { return len(h.live) > 0 }

// A desk answers what is asked in one step, or while the guest starts.
type desk struct {
	answers map[string][]*Exchange // by question
	turns   map[string]int         // how often a question was answered
	kept    []*Exchange            // answers of real services, as they came
	streams map[string]*numbering  // of real services, by capability
	problem string                 // the first thing that went wrong
}

func newDesk(recorded []Exchange) *desk {
	return &desk{answers: byQuestion(recorded), turns: map[string]int{}, streams: map[string]*numbering{}}
}

func byQuestion(recorded []Exchange) map[string][]*Exchange {
	answers := map[string][]*Exchange{}
	for i := range recorded {
		question := recorded[i].Question()
		answers[question] = append(answers[question], &recorded[i])
	}
	return answers
}

// next gives the answer to a question whose turn it is, of its own or else of shared; nil when there is none. The last
// is given again and again.
func (d *desk) next(question string, shared map[string][]*Exchange) *Exchange {
	list := d.answers[question]
	if len(list) == 0 {
		list = shared[question]
	}
	if len(list) == 0 {
		return nil
	}
	turn := min(d.turns[question], len(list)-1)
	d.turns[question]++
	return list[turn]
}

// keep adds an answer of so many bytes, and gives how many more there are to be kept.
func (d *desk) keep(e *Exchange, size int) (added int) {
	list := d.answers[e.question]
	if added = size; len(list) > 0 && list[len(list)-1].String() == e.String() {
		e, added = list[len(list)-1], 0 // which is then there once
	}
	d.answers[e.question] = append(list, e)
	d.kept = append(d.kept, e)
	return added + len(e.question)
}

// recorded gives what is kept but for answers that would be given anyway: those that repeat the last one to a question.
func (d *desk) recorded() []Exchange {
	needed := map[string]int{}
	for question, list := range d.answers {
		n := len(list)
		for n > 1 && list[n-1] == list[n-2] {
			n--
		}
		needed[question] = n
	}
	var out []Exchange
	for _, e := range d.kept {
		if needed[e.question]--; needed[e.question] >= 0 {
			out = append(out, *e)
		}
	}
	return out
}

// numbering gives that of a capability's streams.
func (d *desk) numbering(capability string) *numbering {
	if d.streams[capability] == nil {
		d.streams[capability] = &numbering{}
	}
	return d.streams[capability]
}

// Services gives what the guest is to be granted, before it runs. Of granted it passes on the configuration.
func (h *Host) Services(granted capability.Services) (capability.Services, error) {
	out := capability.Services{}
	var recorded []string
	for id, service := range granted {
		d := dialectOf(id)
		switch {
		case id == abi.ServiceConfig && h.environ:
			out[id] = keys{service, &teller{host: h, dialect: d, real: service}}
			recorded = append(recorded, d.capability)
		case id == abi.ServiceConfig:
			out[id] = service
		case d == nil:
			return nil, fmt.Errorf("session: service %d cannot be recorded", id)
		case h.records:
			out[id] = &teller{host: h, dialect: d, real: service}
			recorded = append(recorded, d.capability)
		}
	}
	if len(recorded) > 0 {
		h.live = slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool { return !slices.Contains(recorded, c) })
		return out, nil
	}
	for _, d := range dialects {
		switch t := (&teller{host: h, dialect: d}); {
		case !h.session.Grants.Has(d.capability):
		case d.service == abi.ServiceConfig:
			out[d.service] = keys{granted[d.service], t}
		default:
			out[d.service] = t
		}
	}
	return out, nil
}

// A teller is the host's stand-in for one service.
type teller struct {
	host    *Host
	dialect *dialect
	real    capability.Service // nil in a replay
}

// Call implements [capability.Service].
func (t *teller) Call(ctx context.Context, request []byte) (capability.Response, error) {
	q := t.dialect.question()
	if err := q.Decode(request); err != nil {
		return capability.Response{}, err
	}
	e := &Exchange{dialect: t.dialect, question: t.dialect.format(q)}
	if t.real == nil {
		return t.host.recall(ctx, e.question)
	}
	asked := uint64(0)
	if s, ok := q.(streaming); ok {
		asked = *s.stream()
		*s.stream() = t.host.realStream(ctx, t.dialect.capability, asked)
		request = s.Append(nil)
	}
	resp, err := t.real.Call(ctx, request)
	if ctx.Err() != nil {
		return resp, err // which nobody hears
	}
	return t.host.keep(ctx, e, asked, resp, err)
}

// deskKey is the key of the desk of a step in its context.
type deskKey struct{}

// at gives the desk of a call, that of the start when it belongs to no step.
func (h *Host) at(ctx context.Context) *desk {
	if d, ok := ctx.Value(deskKey{}).(*desk); ok {
		return d
	}
	return h.starting
}

// realStream gives what a service calls a stream.
func (h *Host) realStream(ctx context.Context, capability string, number uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(ctx).numbering(capability).real(number)
}

// recall answers from the session: from what is recorded for the step, or else for the start.
func (h *Host) recall(ctx context.Context, question string) (capability.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.at(ctx)
	if found := d.next(question, h.shared); found != nil {
		return found.answer()
	}
	if d.problem == "" {
		d.problem = "the provider asks the host what is not recorded: " + clip(question)
	}
	return capability.Response{}, abi.Errorf(abi.CodeUnavailable, "not recorded: %s", clip(question))
}

// clip gives as much of a question as people read.
func clip(question string) string {
	const most = 1 << 10
	if len(question) <= most {
		return question
	}
	return strings.ToValidUTF8(question[:most], "") + "…"
}

// keep takes down what a real service has answered to a question about a stream or, with 0, about none. It gives what
// a replay would give.
func (h *Host) keep(
	ctx context.Context, e *Exchange, asked uint64, resp capability.Response, err error,
) (capability.Response, error) {
	bad := e.take(resp, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.at(ctx)
	if bad != nil {
		if d.problem == "" {
			d.problem = "what the host answers cannot be recorded: " + clip(e.question) + ": " + bad.Error()
		}
		return resp, err
	}
	if s, ok := e.response.(streaming); ok {
		*s.stream() = d.numbering(e.dialect.capability).number(*s.stream(), asked)
	}
	if size := len(resp.Body) + len(resp.Message); h.bytes+size > MaxSize {
		d.problem = cmp.Or(d.problem, fmt.Sprintf("the host answers more than the %d bytes a session has: split it", MaxSize))
	} else {
		h.bytes += d.keep(e, size)
	}
	if err != nil {
		return resp, err // which says more to the log
	}
	return e.answer()
}
