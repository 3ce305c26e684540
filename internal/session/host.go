package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Host is what a guest asks in place of real services: it answers from a session, or asks them and keeps what they
// answer. It is safe for concurrent use.
type Host struct {
	session *Session
	live    bool
	shared  map[string][]*Exchange // by question: what is recorded for the start, and so for each step

	mu       sync.Mutex
	starting *desk // guarded by mu, as are the desks of steps
}

// Replay makes a host that answers from s.
func Replay(s *Session) *Host {
	return &Host{session: s, shared: byQuestion(s.Host), starting: newDesk(nil)}
}

// Record makes a host that asks the services that are granted, and keeps what they answer until [Run] puts it into s.
func Record(s *Session) *Host { return &Host{session: s, live: true, starting: newDesk(nil)} }

// A desk answers what is asked in one step, or while the guest starts.
type desk struct {
	answers map[string][]*Exchange // by question
	turns   map[string]int         // how often a question was answered
	kept    []Exchange             // answers of real services
	problem string                 // the first thing that went wrong
}

func newDesk(recorded []Exchange) *desk {
	return &desk{answers: byQuestion(recorded), turns: map[string]int{}}
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

// keep adds an answer, unless it would be given anyway.
func (d *desk) keep(e *Exchange) {
	question := e.Question()
	list := d.answers[question]
	if len(list) > 0 && list[len(list)-1].String() == e.String() {
		return
	}
	d.answers[question] = append(list, e)
	d.kept = append(d.kept, *e)
}

// Services gives what the guest is to be granted. Of granted it passes on the configuration.
func (h *Host) Services(granted capability.Services) (capability.Services, error) {
	out := capability.Services{}
	for id, service := range granted {
		_, known := services[id]
		switch {
		case id == abi.ServiceConfig:
			out[id] = service
		case !known:
			return nil, fmt.Errorf("session: service %d cannot be recorded", id)
		case h.live:
			out[id] = &teller{host: h, id: id, real: service}
		}
	}
	if !h.live && h.session.Grants.Has(CapabilityFS) {
		for id := range services {
			out[id] = &teller{host: h, id: id}
		}
	}
	return out, nil
}

// A teller is the host's stand-in for one service.
type teller struct {
	host *Host
	id   abi.Service
	real capability.Service // nil in a replay
}

// Call implements [capability.Service].
func (t *teller) Call(ctx context.Context, request []byte) (capability.Response, error) {
	e := Exchange{service: t.id}
	if err := e.request.Decode(request); err != nil {
		return capability.Response{}, err
	}
	if t.real == nil {
		return t.host.recall(ctx, &e)
	}
	resp, err := t.real.Call(ctx, request)
	t.host.keep(ctx, &e, resp, err)
	return resp, err
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

// recall answers from the session: from what is recorded for the step, or else for the start.
func (h *Host) recall(ctx context.Context, e *Exchange) (capability.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, question := h.at(ctx), e.Question()
	if found := d.next(question, h.shared); found != nil {
		return found.answer()
	}
	if d.problem == "" {
		d.problem = "the provider asks the host what is not recorded: " + question
	}
	return capability.Response{}, abi.Errorf(abi.CodeUnavailable, "not recorded: %s", question)
}

// keep takes down what a real service has answered.
func (h *Host) keep(ctx context.Context, e *Exchange, resp capability.Response, err error) {
	if ctx.Err() != nil {
		return // nobody hears the answer
	}
	err = e.take(resp, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.at(ctx)
	if err != nil && d.problem == "" {
		d.problem = "what the host answers cannot be recorded: " + e.Question() + ": " + err.Error()
	}
	d.keep(e)
}
