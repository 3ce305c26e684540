package legacy

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// handshakeTime is how long a client over HTTP may take to complete the handshake.
const handshakeTime = 30 * time.Second

// A quota counts the HTTP sessions, in all and of each client. The Front's mu guards its fields, except evicting.
type quota struct {
	opening int            // HTTP requests under way that may open a session
	clients map[string]int // sessions of each client, with those that are being opened

	evicting sync.Mutex // held while sessions are ended for another
}

// reserve counts a session of a client while it is opened, and ends idle sessions for it if the quota is used up. It
// returns false when there is no room. For a moment the new session counts twice.
func (f *Front) reserve(client string) bool {
	if f.tryReserve(client) {
		return true
	}
	f.quota.evicting.Lock()
	defer f.quota.evicting.Unlock()
	if f.tryReserve(client) { // another request has ended sessions meanwhile
		return true
	}
	f.evict(client)
	return f.tryReserve(client)
}

func (f *Front) tryReserve(client string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.isFullLocked() || f.hasTooManyLocked(client) {
		return false
	}
	f.quota.opening++
	f.quota.clients[client]++
	f.running.Add(1)
	return true
}

func (f *Front) isFullLocked() bool { return len(f.sessions)+f.quota.opening >= f.cfg.MaxSessions }

func (f *Front) hasTooManyLocked(client string) bool {
	return client != "" && f.quota.clients[client] >= f.cfg.MaxPerClient
}

// release ends the effect of reserve. The session with that id, if there is one, counts as the client's from now on, and for
// the account of its client until it ends.
func (f *Front) release(client, id string, closeAccount func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.running.Done()
	f.quota.opening--
	if s := f.byID[id]; s != nil {
		s.client, s.counted, s.closeAccount = client, true, closeAccount
	} else {
		f.uncountLocked(client)
		closeAccount()
	}
}

// uncountLocked counts one session of a client less.
func (f *Front) uncountLocked(client string) {
	if f.quota.clients[client]--; f.quota.clients[client] <= 0 {
		delete(f.quota.clients, client)
	}
}

// An idleSession is a session that may be ended to make room for another.
type idleSession struct {
	session *session
	ready   bool      // the handshake has ended
	share   int       // grows with the sessions of its client
	used    time.Time // the end of its last request
}

// evict ends a few idle sessions to make room for one of a client: sessions of that client if it has too many,
// otherwise sessions of any client.
func (f *Front) evict(client string) {
	idle := f.idleSessions(client)
	slices.SortFunc(idle, func(a, b idleSession) int {
		if a.ready != b.ready {
			if b.ready {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.share, a.share), a.used.Compare(b.used))
	})
	// more than one, so that not every new session has to search
	left := 1 + len(idle)/64
	for _, i := range idle {
		if i.session.expire(errReplaced, i.session.isUnused) {
			f.remove(i.session)
			left--
		}
		if left == 0 {
			return
		}
	}
}

// idleSessions returns the sessions that may be ended to make room for one of a client. Some may be in use.
func (f *Front) idleSessions(client string) (idle []idleSession) {
	f.mu.Lock()
	own := !f.isFullLocked()
	for _, s := range f.byID {
		if own && s.client != client {
			continue
		}
		share := 0
		if s.client != "" { // the sessions of unknown clients do not count as those of one
			share = bits.Len(uint(f.quota.clients[s.client]))
		}
		idle = append(idle, idleSession{session: s, ready: s.agreed.Load() != nil, share: share})
	}
	f.mu.Unlock()
	for i := range idle {
		idle[i].used = idle[i].session.lastUse()
	}
	return idle
}
