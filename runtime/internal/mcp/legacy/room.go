package legacy

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// handshakeTime is how long a client over HTTP may take to complete the handshake, be its session idle or not.
const handshakeTime = 30 * time.Second

// A room bounds the sessions over HTTP, all together and for each client. Its fields are guarded by the Front's mu, but
// for evicting.
type room struct {
	opening int            // HTTP requests under way that may open a session
	clients map[string]int // sessions of each client, those included that are being opened

	evicting sync.Mutex // held while sessions are ended to make room
}

// reserve makes room for one session of a client while it is being opened, and ends idle sessions for it if it must. It
// errs on the side of refusing: for a moment a session counts twice.
func (f *Front) reserve(client string) bool {
	if f.tryReserve(client) {
		return true
	}
	f.room.evicting.Lock()
	defer f.room.evicting.Unlock()
	if f.tryReserve(client) { // another request has made room meanwhile
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
	f.room.opening++
	f.room.clients[client]++
	f.running.Add(1)
	return true
}

func (f *Front) isFullLocked() bool { return len(f.sessions)+f.room.opening >= f.cfg.MaxSessions }

func (f *Front) hasTooManyLocked(client string) bool {
	return client != "" && f.room.clients[client] >= f.cfg.MaxPerClient
}

// release ends what reserve began. The session of that id, which may be none, is the client's from now on.
func (f *Front) release(client, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.running.Done()
	f.room.opening--
	if s := f.byID[id]; s != nil {
		s.client, s.counted = client, true
	} else {
		f.leaveLocked(client)
	}
}

// leaveLocked counts one session of a client less.
func (f *Front) leaveLocked(client string) {
	if f.room.clients[client]--; f.room.clients[client] <= 0 {
		delete(f.room.clients, client)
	}
}

// An idler is a session that may be ended to make room.
type idler struct {
	session *session
	ready   bool      // the handshake is over
	share   int       // grows with the sessions of its client
	used    time.Time // the end of its last request
}

// evict ends a few idle sessions to make room for one of a client: of its own when it has too many, of all otherwise.
func (f *Front) evict(client string) {
	idlers := f.idlers(client)
	slices.SortFunc(idlers, func(a, b idler) int {
		if a.ready != b.ready {
			if b.ready {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.share, a.share), a.used.Compare(b.used))
	})
	// More than one, so that a flood of new sessions does not have all of them looked at for each.
	left := 1 + len(idlers)/64
	for _, i := range idlers {
		if i.session.expire(errCrowded, i.session.isUnused) {
			f.drop(i.session)
			left--
		}
		if left == 0 {
			return
		}
	}
}

// idlers gives the sessions that could make room for one of a client.
func (f *Front) idlers(client string) (idlers []idler) {
	f.mu.Lock()
	own := !f.isFullLocked()
	for _, s := range f.byID {
		if own && s.client != client {
			continue
		}
		share := 0
		if s.client != "" { // many clients may share that name
			share = bits.Len(uint(f.room.clients[s.client]))
		}
		idlers = append(idlers, idler{session: s, ready: s.agreed.Load() != nil, share: share})
	}
	f.mu.Unlock()
	for i := range idlers {
		idlers[i].used = idlers[i].session.lastUse()
	}
	return idlers
}
