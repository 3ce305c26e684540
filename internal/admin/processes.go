package admin

import (
	"context"
	"net/http"
)

// Stopped is what a stop did.
type Stopped struct {
	Processes int `json:"processes"` // that were stopped; those that a call uses go on
}

// wakeProvider starts a process of a provider ahead of its next call.
func (s *Server) wakeProvider(r *http.Request) (answer, error) {
	_, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	if err := s.cfg.Host.Wake(r.Context(), id); err != nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "the provider %s has no process: %v", id, err)
	}
	return done()
}

// stopProvider stops the processes of a provider that no call uses.
func (s *Server) stopProvider(r *http.Request) (answer, error) {
	_, id, err := s.providerOf(r)
	if err != nil {
		return answer{}, err
	}
	return ok(Stopped{s.cfg.Host.Stop(id)})
}

// WakeProvider starts a process of a provider ahead of its next call, and returns when it is ready.
func (c *Client) WakeProvider(ctx context.Context, id, provider string) error {
	return c.do(ctx, http.MethodPost, providerPath(id, provider)+"/wake", nil, nil)
}

// StopProvider stops the processes of a provider that no call uses.
func (c *Client) StopProvider(ctx context.Context, id, provider string) (st Stopped, err error) {
	return st, c.do(ctx, http.MethodPost, providerPath(id, provider)+"/stop", nil, &st)
}
