package admin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/tenant"
)

// maxAttempts bounds how often a write is made again because something else has changed meanwhile.
const maxAttempts = 8

// tagOf returns the ETag of an object, without quotes. It changes with each member that JSON has.
func tagOf(object any) string {
	text, err := json.Marshal(object)
	if err != nil { // no object of package tenant can fail
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// tagOfGeneration returns the ETag of the whole configuration, without quotes.
func tagOfGeneration(generation uint64) string { return "g" + strconv.FormatUint(generation, 10) }

// checkMatch refuses a write whose If-Match or If-None-Match does not allow the present state of an object, which has the tag;
// empty if there is no such object.
func checkMatch(r *http.Request, tag string) error {
	wanted := r.Header.Values("If-Match")
	if len(wanted) > 0 && !lists(wanted, tag) {
		if tag == "" {
			return mismatch("If-Match: there is no such object (any more)")
		}
		return mismatch("If-Match: the object has changed meanwhile, its tag is %q: read it again", tag)
	}
	if refused := r.Header.Values("If-None-Match"); len(refused) > 0 && lists(refused, tag) {
		return mismatch("If-None-Match: there is such an object already, its tag is %q", tag)
	}
	return nil
}

// lists reports whether the values of a header name a tag, or any with a star.
func lists(values []string, tag string) bool {
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); tag != "" && (one == "*" || one == strconv.Quote(tag)) {
				return true
			}
		}
	}
	return false
}

func mismatch(format string, args ...any) error {
	p := problem(http.StatusPreconditionFailed, CodeConflict, format, args...)
	return p
}

// change makes a write. tag returns the tag of what is written, empty if there is none. do is called with the state that was
// checked, for the Base of its Change, and again if another write came first and the conditions still hold.
func (s *Server) change(r *http.Request, tag func(*tenant.Snapshot) string, do func(*tenant.Snapshot) error) error {
	for attempt := 1; ; attempt++ {
		snapshot := s.cfg.Host.Snapshot()
		if err := checkMatch(r, tag(snapshot)); err != nil {
			return err
		}
		err := do(snapshot)
		if !errors.Is(err, tenant.ErrConflict) || attempt == maxAttempts || r.Context().Err() != nil {
			return err
		}
	}
}
