package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wasmres/wasmres/internal/guestlog"
)

const (
	logType       = "text/plain; charset=utf-8"
	maxLogStreams = 64 // that follow lines or events at once
	maxLogWrite   = 32 << 10
)

// logs answers the newest lines of a tenant's guests, and with follow=true those that come. A client that reads more slowly than
// they come gets a line that says how many it has missed; one that reads nothing for 30 seconds is cut.
func (s *Server) logs(r *http.Request) (answer, error) {
	id, provider := r.PathValue("tenant"), r.URL.Query().Get("provider")
	if err := knownTenant(s.cfg.Host.Snapshot(), id); err != nil {
		return answer{}, err
	}
	if s.cfg.Logs == nil {
		return answer{}, problem(http.StatusServiceUnavailable, CodeUnavailable, "this server keeps no lines of guests")
	}
	follow := false
	if given := r.URL.Query().Get("follow"); given != "" {
		var err error
		if follow, err = strconv.ParseBool(given); err != nil {
			return answer{}, invalid("follow: write true or false")
		}
	}
	release := func() {}
	if follow {
		var err error
		if release, err = s.enterStream(); err != nil {
			return answer{}, err
		}
	}
	return answer{contentType: logType, stream: func(ctx context.Context, w streamWriter) error {
		defer release()
		return sendLines(ctx, w, s.cfg.Logs.Reader(id), provider, follow)
	}}, nil
}

// enterStream lets one more caller follow lines or events, until release is called.
func (s *Server) enterStream() (release func(), err error) {
	select {
	case s.streams <- struct{}{}:
		return func() { <-s.streams }, nil
	default:
		return nil, problem(http.StatusServiceUnavailable, CodeUnavailable, "%d others follow lines or events already: try again when one has ended", maxLogStreams)
	}
}

// sendLines sends what a reader has, and with follow what comes, until ctx ends.
func sendLines(ctx context.Context, w io.Writer, r *guestlog.Reader, provider string, follow bool) error {
	for first := true; ; first = false {
		lines, missed := r.Read()
		var text []byte
		if missed > 0 && !first {
			text = fmt.Appendf(text, "… %d lines came quicker than they were read\n", missed)
		}
		for i := range lines {
			if provider == "" || lines[i].Provider == provider {
				text = lines[i].Append(text)
			}
			if len(text) >= maxLogWrite || i == len(lines)-1 {
				if _, err := w.Write(text); err != nil {
					return err
				}
				text = text[:0]
			}
		}
		if !follow {
			return nil
		}
		if err := r.Wait(ctx); err != nil {
			return nil // the client has gone, or the server ends
		}
	}
}

// Logs copies the newest lines of a tenant's guests to w, of one provider unless that is empty, and with follow those that come,
// until ctx ends. What the server says is copied as it is: it has no control characters.
func (c *Client) Logs(ctx context.Context, tenantID, provider string, follow bool, w io.Writer) error {
	query := url.Values{"provider": {provider}, "follow": {strconv.FormatBool(follow)}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+tenantPath(tenantID)+"/logs?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	lasting := *c.http
	lasting.Timeout = 0
	response, err := lasting.Do(r)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
		if err != nil {
			return err
		}
		return c.problem(response, body)
	}
	_, err = io.Copy(w, response.Body)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
