package keys

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	useInterval = time.Minute
	useTime     = 5 * time.Second // to write the last ones
	day         = 24 * time.Hour
)

// uses are the days on which keys were used, until they are written.
type uses struct {
	mu   sync.Mutex
	days map[string]time.Time // by ID
}

// note notes that a key is used today, and reports whether that is new. It does something once a day for each key.
func (u *uses) note(e *entry) (isFirst bool) {
	today := time.Now().UTC().Truncate(day)
	number := today.Unix() / int64(day/time.Second)
	if e.client.usedOn.Swap(number) == number || !today.After(e.key.LastUsed) {
		return false
	}
	u.add(map[string]time.Time{e.key.ID: today})
	return true
}

func (u *uses) add(days map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.days == nil {
		u.days = map[string]time.Time{}
	}
	for id, at := range days {
		if at.After(u.days[id]) {
			u.days[id] = at
		}
	}
}

func (u *uses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.days
	u.days = nil
	return taken
}

// WriteUses writes to a store on which days keys were used: once a minute, and when ctx ends. It returns after that. A use
// is noted when a key authenticates a request; later requests on the same connection may not be noted.
func (s *Set) WriteUses(ctx context.Context, store tenant.Store, logger *slog.Logger) {
	tick := time.NewTicker(useInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTime)
			defer cancel()
			s.writeUses(last, store, logger)
			return
		case <-tick.C:
			s.writeUses(ctx, store, logger)
		}
	}
}

// writeUses writes the days that were noted. When that fails, they are written the next time.
func (s *Set) writeUses(ctx context.Context, store tenant.Store, logger *slog.Logger) {
	days := s.uses.take()
	if len(days) == 0 {
		return
	}
	err := store.SetLastUsed(ctx, days)
	if err == nil {
		return
	}
	s.uses.add(days)
	if !errors.Is(err, tenant.ErrClosed) && ctx.Err() == nil {
		logger.Warn("use of keys not written, it is tried again in a minute", "keys", len(days), "err", err)
	}
}
