package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
)

// Events say when the ledger has more entries. They are safe for concurrent use.
type Events interface {
	// Newest returns the number of the newest entry; zero for none.
	Newest() uint64
	// Await waits until there is an entry with a higher number, and returns the number of the newest one.
	Await(ctx context.Context, after uint64) (newest uint64, err error)
}

const (
	eventType = "text/event-stream"
	eventRest = 15 * time.Second // after which a stream without entries has a comment: the server notices a client that has gone when it writes
)

// errNoEvents says that the server keeps no ledger.
var errNoEvents = problem(http.StatusServiceUnavailable, CodeUnavailable, "this server keeps no ledger")

// events answers the entries of the ledger that come, as server-sent events, to the caller of one tenant those that concern it. The ID of
// an event is the number of its entry: with the header Last-Event-ID, the answer begins behind that one.
func (s *Server) events(r *http.Request) (answer, error) {
	if s.cfg.Audit == nil || s.cfg.Events == nil {
		return answer{}, errNoEvents
	}
	q, err := auditQuery(r.URL.Query(), page{limit: MaxPage})
	if err == nil {
		err = restrict(r.Context(), &q)
	}
	if err != nil {
		return answer{}, err
	}
	q.Newest, q.After = false, s.cfg.Events.Newest()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		after, err := strconv.ParseUint(last, 10, 63)
		if err != nil || after > q.After {
			return answer{}, invalid("Last-Event-ID: %s: it is not the ID of an event of this server", clip(last))
		}
		q.After = after
	}
	release, err := s.enterStream()
	if err != nil {
		return answer{}, err
	}
	return answer{contentType: eventType, stream: func(ctx context.Context, w streamWriter) error {
		defer release()
		return s.sendEvents(ctx, w, q)
	}}, nil
}

// sendEvents sends the entries behind q.After, and those that come, until ctx ends or the server does.
func (s *Server) sendEvents(ctx context.Context, w io.Writer, q ledger.Query) error {
	rest := true // so that the client sees at once that it is connected
	for {
		if rest {
			if _, err := io.WriteString(w, ":\n\n"); err != nil {
				return err
			}
		}
		newest, err := s.awaitEvent(ctx, q.After)
		rest = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		switch {
		case rest:
			continue
		case err != nil:
			return nil //nolint:nilerr // the client has gone, or the server ends
		}
		if err := s.sendFound(ctx, w, &q); err != nil {
			return err
		}
		q.After = max(q.After, newest)
	}
}

func (s *Server) awaitEvent(ctx context.Context, after uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, eventRest)
	defer cancel()
	return s.cfg.Events.Await(ctx, after)
}

// sendFound sends all entries that q finds, and moves q.After behind the last one.
func (s *Server) sendFound(ctx context.Context, w io.Writer, q *ledger.Query) error {
	for {
		found, err := s.cfg.Audit(ctx, *q)
		if err != nil {
			return err
		}
		var text []byte
		for _, l := range found.Lines {
			data, err := json.Marshal(AuditEntryOf(l))
			if err != nil {
				return err
			}
			text = fmt.Appendf(text, "id: %d\nevent: entry\ndata: %s\n\n", l.Seq, data)
			q.After = l.Seq
		}
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		if found.Next == 0 {
			return nil
		}
		q.After = found.Next
	}
}
