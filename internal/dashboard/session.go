package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
)

const (
	cookieName  = "__Host-wasmres"
	sessionTime = 8 * time.Hour
	maxSessions = 1000
)

// sessions are those of people who have signed in. Its zero value is ready.
type sessions struct {
	mu sync.Mutex
	by map[[sha256.Size]byte]session // by the hash of the cookie's value
}

// A session lasts until its end, unless its person signs out or their key or certificate is not valid any more.
type session struct {
	person admin.Person
	end    time.Time
}

// begin begins a session, and returns the value of its cookie. If there are too many, the one that would end first ends now.
func (s *sessions) begin(p admin.Person, now time.Time) (value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[[sha256.Size]byte]session{}
	}
	if len(s.by) >= maxSessions {
		s.makeRoomLocked(now)
	}
	value = rand.Text()
	s.by[sha256.Sum256([]byte(value))] = session{p, now.Add(sessionTime)}
	return value
}

func (s *sessions) makeRoomLocked(now time.Time) {
	var first [sha256.Size]byte
	var end time.Time
	for id, one := range s.by {
		switch {
		case !now.Before(one.end):
			delete(s.by, id)
		case end.IsZero() || one.end.Before(end):
			first, end = id, one.end
		}
	}
	if len(s.by) >= maxSessions {
		delete(s.by, first)
	}
}

// find returns the person of a cookie.
func (s *sessions) find(value string, now time.Time) (admin.Person, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := sha256.Sum256([]byte(value))
	one, ok := s.by[id]
	if ok && !now.Before(one.end) {
		delete(s.by, id)
		return admin.Person{}, false
	}
	return one.person, ok
}

func (s *sessions) endSession(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, sha256.Sum256([]byte(value)))
}

// cookieOf returns the value of the only session cookie of a request; empty for none.
func cookieOf(r *http.Request) string {
	found := r.CookiesNamed(cookieName)
	if len(found) != 1 || len(found[0].Value) > 64 {
		return ""
	}
	return found[0].Value
}

func setCookie(w http.ResponseWriter, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: seconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// mainPages are the pages that every page links to, with the roles that see them.
var mainPages = []struct {
	text, path string
	sees       func(admin.Standing) bool
}{
	{"Server", "/", func(s admin.Standing) bool { return s.Tenant == "" }},
	{"Tenants", "/tenants", func(admin.Standing) bool { return true }},
	{"Rollouts", "/rollouts", func(admin.Standing) bool { return true }},
	{"Usage", "/usage", admin.Standing.Audits},
	{"Crashes", "/crashes", func(admin.Standing) bool { return true }},
	{"Ledger", "/ledger", admin.Standing.Audits},
	{"Keys", "/keys", admin.Standing.Audits},
	{"Admin keys", "/admin-keys", func(s admin.Standing) bool { return s.Role == admin.Operator }},
}
