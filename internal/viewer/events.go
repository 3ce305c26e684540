package viewer

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	writeTime = 10 * time.Second
	eventTime = time.Second      // between two events
	quietTime = 25 * time.Second // after which a stream sends a comment, so that both ends know that the other is there
	maxLog    = 200 << 10        // bytes of lines in a page
)

// events sends an event each time the resource of a request has changed, or without one the list; with log, each time the provider
// has logged something, which a page that has the provider called must not ask for: it would be called without end.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return abi.Errorf(abi.CodeUnavailable, "%d pages follow changes already: close one", maxStreams)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if r.URL.Query().Has("log") {
			s.followLog(ctx, note)
			return
		}
		s.followProvider(ctx, r.URL.Query().Get("uri"), note)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	return s.send(ctx, w, changed)
}

// send sends events until ctx ends or the browser is gone, at most one a second: what the page reads then may itself be a change.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, changed <-chan struct{}) error {
	c := http.NewResponseController(w)
	line, sent := ": here\n\n", time.Time{}
	for {
		if err := c.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
			return nil
		}
		if _, err := fmt.Fprint(w, line); err != nil || c.Flush() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			wait(ctx, eventTime-time.Since(sent))
			sent = time.Now()
			line = "event: change\ndata: 1\n\n"
		case <-time.After(quietTime):
			line = ": here\n\n"
		}
	}
}

// wait returns after a time, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// followProvider calls note when a resource has changed, or without one the list, until ctx ends. A provider without
// subscriptions says nothing.
func (s *Server) followProvider(ctx context.Context, uri string, note func()) {
	var uris []string
	if uri != "" {
		uris = []string{uri}
	}
	for _, err := range s.cfg.App.Provider().Subscribe(ctx, uris...) {
		if err != nil {
			s.cfg.Logger.Debug("changes not followed", "err", err)
			return
		}
		note()
	}
}

// followLog calls note when the provider has logged something, until ctx ends.
func (s *Server) followLog(ctx context.Context, note func()) {
	if s.cfg.Logs == nil {
		return
	}
	reader := s.cfg.Logs.Reader(logName)
	reader.Read()
	for reader.Wait(ctx) == nil {
		reader.Read()
		note()
	}
}

// logPage is what the page of the log shows.
type logPage struct{ Lines string }

func (s *Server) showLog(w http.ResponseWriter, _ *http.Request) error {
	var all []string
	size := 0
	if s.cfg.Logs != nil {
		lines, _ := s.cfg.Logs.Reader(logName).Read()
		for i := len(lines) - 1; i >= 0 && size < maxLog; i-- {
			line := string(bytes.TrimSpace(lines[i].Append(nil)))
			size += len(html.EscapeString(line)) + 1
			all = append(all, strings.Replace(line, " "+logName+": ", " ", 1))
		}
	}
	var b strings.Builder
	for i := len(all) - 1; i >= 0; i-- {
		b.WriteString(all[i] + "\n")
	}
	view := s.view("Log", "/log", logPage{b.String()})
	view.Events += "?log=1"
	return s.pages.Write(w, http.StatusOK, "log", view)
}
