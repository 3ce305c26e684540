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

// A Host stands between a guest and the services of the host. It answers from a session, or calls the real services and
// records their answers. It is safe for concurrent use.
type Host struct {
	session *Session
	records bool                   // records answers of the granted services
	environ bool                   // records environment variables too, which the service for configuration gives
	live    []string               // capabilities whose services are recorded; empty when the session answers
	shared  map[string][]*Exchange // by question: answers recorded for the start, which all steps can use

	mu       sync.Mutex
	starting *stepHost // guarded by mu, as is the stepHost of each step
	bytes    int       // of all recorded answers; guarded by mu
}

// Replay makes a Host that answers from s.
func Replay(s *Session) *Host {
	return &Host{session: s, shared: byQuestion(s.Host), starting: newStepHost(nil)}
}

// Record makes a Host that calls the granted services and records their answers. [Run] replaces the answers in s by them.
// Without granted services the Host answers from s.
func Record(s *Session) *Host {
	h := Replay(s)
	h.records = true
	return h
}

// RecordEnvironment makes a Host of [Record] record environment variables too; it does nothing to others. The service for
// configuration values gives the granted variables. Call RecordEnvironment before Services.
func (h *Host) RecordEnvironment() { h.environ = h.records }

// isLive reports whether real services answer and the Host records them.
func (h *Host) isLive() bool { return len(h.live) > 0 }

// A stepHost answers the questions of one step, or of the start of the guest.
type stepHost struct {
	answers map[string][]*Exchange // by question
	calls   map[string]int         // by question: how many have been answered
	log     []*Exchange            // answers of real services, in the order of the calls
	streams map[string]*streamIDs  // of real services, by capability
	problem string                 // the first failure; empty for none
}

func newStepHost(recorded []Exchange) *stepHost {
	return &stepHost{answers: byQuestion(recorded), calls: map[string]int{}, streams: map[string]*streamIDs{}}
}

func byQuestion(recorded []Exchange) map[string][]*Exchange {
	answers := map[string][]*Exchange{}
	for i := range recorded {
		question := recorded[i].Question()
		answers[question] = append(answers[question], &recorded[i])
	}
	return answers
}

// next returns the next answer to a question: from the step, or from shared if the step has none. After the last answer
// it repeats the last one. It returns nil for a question without answers.
func (s *stepHost) next(question string, shared map[string][]*Exchange) *Exchange {
	list := s.answers[question]
	if len(list) == 0 {
		list = shared[question]
	}
	if len(list) == 0 {
		return nil
	}
	i := min(s.calls[question], len(list)-1)
	s.calls[question]++
	return list[i]
}

// add records an answer of size bytes and gives the bytes by which the recording grows.
func (s *stepHost) add(e *Exchange, size int) (added int) {
	list := s.answers[e.question]
	if added = size; len(list) > 0 && list[len(list)-1].String() == e.String() {
		e, added = list[len(list)-1], 0 // shares the memory of the equal answer
	}
	s.answers[e.question] = append(list, e)
	s.log = append(s.log, e)
	return added + len(e.question)
}

// recorded returns the log without answers that a replay repeats anyway: those equal to the last one to a question.
func (s *stepHost) recorded() []Exchange {
	needed := map[string]int{}
	for question, list := range s.answers {
		n := len(list)
		for n > 1 && list[n-1] == list[n-2] {
			n--
		}
		needed[question] = n
	}
	var out []Exchange
	for _, e := range s.log {
		if needed[e.question]--; needed[e.question] >= 0 {
			out = append(out, *e)
		}
	}
	return out
}

// streamIDs returns the stream numbers of a capability.
func (s *stepHost) streamIDs(capability string) *streamIDs {
	if s.streams[capability] == nil {
		s.streams[capability] = &streamIDs{}
	}
	return s.streams[capability]
}

// Services returns the services to grant to the guest in place of granted. It keeps the service for configuration
// values. Call it once, before the guest runs.
func (h *Host) Services(granted capability.Services) (capability.Services, error) {
	out := capability.Services{}
	var recorded []string
	for id, service := range granted {
		f := findFormat(id, "")
		switch {
		case id == abi.ServiceConfig && h.environ:
			out[id] = configService{service, &replayService{host: h, format: f, real: service}}
			recorded = append(recorded, f.capability)
		case id == abi.ServiceConfig:
			out[id] = service
		case f == nil:
			return nil, fmt.Errorf("record session: service %d cannot be recorded: run the test without its grant", id)
		case h.records:
			out[id] = &replayService{host: h, format: f, real: service}
			recorded = append(recorded, f.capability)
		}
	}
	if len(recorded) > 0 {
		h.live = slices.DeleteFunc(slices.Clone(capabilities), func(c string) bool { return !slices.Contains(recorded, c) })
		return out, nil
	}
	for _, f := range serviceFormats {
		switch s := (&replayService{host: h, format: f}); {
		case !h.session.Grants.permits(f):
		case f.service == abi.ServiceConfig:
			out[f.service] = configService{granted[f.service], s}
		default:
			out[f.service] = s
		}
	}
	return out, nil
}

// A replayService takes the place of one service.
type replayService struct {
	host   *Host
	format *serviceFormat
	real   capability.Service // nil in a replay
}

// Call implements [capability.Service].
func (s *replayService) Call(ctx context.Context, request []byte) (capability.Response, error) {
	m, err := s.format.decodeRequest(request)
	if err != nil {
		return capability.Response{}, err
	}
	e := &Exchange{format: s.format, question: s.format.question(m)}
	if s.real == nil {
		return s.host.replay(ctx, e.question)
	}
	asked := uint64(0)
	if stream := streamOf(m); stream != nil {
		asked = *stream
		*stream = s.host.realStream(ctx, s.format.capability, asked)
		request = m.Append(nil)
	}
	resp, err := s.real.Call(ctx, request)
	if ctx.Err() != nil {
		return resp, err // the runtime discards it
	}
	return s.host.record(ctx, e, asked, resp, err)
}

// stepKey is the key of the stepHost of a step in its context.
type stepKey struct{}

// stepOf returns the stepHost of a call, that of the start if the call belongs to no step.
func (h *Host) stepOf(ctx context.Context) *stepHost {
	if step, ok := ctx.Value(stepKey{}).(*stepHost); ok {
		return step
	}
	return h.starting
}

// realStream returns the number a service gave a stream.
func (h *Host) realStream(ctx context.Context, capability string, number uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stepOf(ctx).streamIDs(capability).real(number)
}

// replay answers from the session.
func (h *Host) replay(ctx context.Context, question string) (capability.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	step := h.stepOf(ctx)
	if found := step.next(question, h.shared); found != nil {
		return found.answer()
	}
	if step.problem == "" {
		step.problem = "the session has no answer to the question of the provider; record it again: " + truncate(question)
	}
	return capability.Response{}, abi.Errorf(abi.CodeUnavailable, "not recorded: %s", truncate(question))
}

// truncate returns the beginning of a long question, for messages.
func truncate(question string) string {
	const most = 1 << 10
	if len(question) <= most {
		return question
	}
	return strings.ToValidUTF8(question[:most], "") + "…"
}

// record adds the answer of a real service to the recording and gives the answer a replay would give. asked is the number
// of the stream in the question; 0 for none.
func (h *Host) record(
	ctx context.Context, e *Exchange, asked uint64, resp capability.Response, err error,
) (capability.Response, error) {
	failed := e.record(resp, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	step := h.stepOf(ctx)
	if failed != nil {
		if step.problem == "" {
			step.problem = "the answer of a service cannot be recorded: " + truncate(e.question) + ": " + failed.Error()
		}
		return resp, err
	}
	if stream := streamOf(e.response); stream != nil {
		*stream = step.streamIDs(e.format.capability).number(*stream, asked)
	}
	if size := len(resp.Body) + len(resp.Message); h.bytes+size > MaxSize {
		step.problem = cmp.Or(step.problem, fmt.Sprintf("the services answer with more than the %d bytes a session can have: split the session", MaxSize))
	} else {
		h.bytes += step.add(e, size)
	}
	if err != nil {
		return resp, err // the log needs the cause
	}
	return e.answer()
}
