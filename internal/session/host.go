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
	starting *stepHost // guarded by mu, as are the stepHosts of steps
	bytes    int       // of what is kept; guarded by mu
}

// Replay makes a host that answers from s.
func Replay(s *Session) *Host {
	return &Host{session: s, shared: byQuestion(s.Host), starting: newStepHost(nil)}
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

// A stepHost answers what is asked in one step, or while the guest starts.
type stepHost struct {
	answers map[string][]*Exchange // by question
	turns   map[string]int         // how often a question was answered
	kept    []*Exchange            // answers of real services, as they came
	streams map[string]*streamIDs  // of real services, by capability
	problem string                 // the first thing that went wrong
}

func newStepHost(recorded []Exchange) *stepHost {
	return &stepHost{answers: byQuestion(recorded), turns: map[string]int{}, streams: map[string]*streamIDs{}}
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
func (d *stepHost) next(question string, shared map[string][]*Exchange) *Exchange {
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
func (d *stepHost) keep(e *Exchange, size int) (added int) {
	list := d.answers[e.question]
	if added = size; len(list) > 0 && list[len(list)-1].String() == e.String() {
		e, added = list[len(list)-1], 0 // which is then there once
	}
	d.answers[e.question] = append(list, e)
	d.kept = append(d.kept, e)
	return added + len(e.question)
}

// recorded gives what is kept but for answers that would be given anyway: those that repeat the last one to a question.
func (d *stepHost) recorded() []Exchange {
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

// streamIDs gives those of a capability's streams.
func (d *stepHost) streamIDs(capability string) *streamIDs {
	if d.streams[capability] == nil {
		d.streams[capability] = &streamIDs{}
	}
	return d.streams[capability]
}

// Services gives what the guest is to be granted, before it runs. Of granted it passes on the configuration.
func (h *Host) Services(granted capability.Services) (capability.Services, error) {
	out := capability.Services{}
	var recorded []string
	for id, service := range granted {
		d := findFormat(id, "")
		switch {
		case id == abi.ServiceConfig && h.environ:
			out[id] = configService{service, &replayService{host: h, format: d, real: service}}
			recorded = append(recorded, d.capability)
		case id == abi.ServiceConfig:
			out[id] = service
		case d == nil:
			return nil, fmt.Errorf("session: service %d cannot be recorded", id)
		case h.records:
			out[id] = &replayService{host: h, format: d, real: service}
			recorded = append(recorded, d.capability)
		}
	}
	if len(recorded) > 0 {
		h.live = slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool { return !slices.Contains(recorded, c) })
		return out, nil
	}
	for _, d := range serviceFormats {
		switch t := (&replayService{host: h, format: d}); {
		case !h.session.Grants.Has(d.capability):
		case d.service == abi.ServiceConfig:
			out[d.service] = configService{granted[d.service], t}
		default:
			out[d.service] = t
		}
	}
	return out, nil
}

// A replayService is the host's stand-in for one service.
type replayService struct {
	host   *Host
	format *serviceFormat
	real   capability.Service // nil in a replay
}

// Call implements [capability.Service].
func (t *replayService) Call(ctx context.Context, request []byte) (capability.Response, error) {
	m, err := t.format.decodeRequest(request)
	if err != nil {
		return capability.Response{}, err
	}
	e := &Exchange{format: t.format, question: t.format.question(m)}
	if t.real == nil {
		return t.host.recall(ctx, e.question)
	}
	asked := uint64(0)
	if stream := streamOf(m); stream != nil {
		asked = *stream
		*stream = t.host.realStream(ctx, t.format.capability, asked)
		request = m.Append(nil)
	}
	resp, err := t.real.Call(ctx, request)
	if ctx.Err() != nil {
		return resp, err // which is discarded
	}
	return t.host.keep(ctx, e, asked, resp, err)
}

// stepKey is the key of the stepHost of a step in its context.
type stepKey struct{}

// at gives the stepHost of a call, that of the start when it belongs to no step.
func (h *Host) at(ctx context.Context) *stepHost {
	if d, ok := ctx.Value(stepKey{}).(*stepHost); ok {
		return d
	}
	return h.starting
}

// realStream gives what a service calls a stream.
func (h *Host) realStream(ctx context.Context, capability string, number uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at(ctx).streamIDs(capability).real(number)
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
	bad := e.record(resp, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.at(ctx)
	if bad != nil {
		if d.problem == "" {
			d.problem = "what the host answers cannot be recorded: " + clip(e.question) + ": " + bad.Error()
		}
		return resp, err
	}
	if stream := streamOf(e.response); stream != nil {
		*stream = d.streamIDs(e.format.capability).number(*stream, asked)
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
