package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/quota"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
)

// A route is one tenant, cold or open.
type route struct {
	// fixed at creation
	host  *Host
	id    string
	live  *runtime.Live  // bounds the processes of all its providers
	share *runtime.Share // has the calls of all its providers wait for processors; nil for none
	log   *slog.Logger   // has what the tenant's providers and clients cause

	cursors []byte // the key of cursors of all sets
	members *pool[*spec, *member]
	sets    *pool[[]*sharedMember, *set]

	is     atomic.Pointer[settings]       // but for canaries that were taken back
	quota  atomic.Pointer[quota.Tenant]   // nil before the first request
	server atomic.Pointer[runtime.Server] // nil while the tenant is cold
	last   atomic.Int64                   // when the last request ended, in nanoseconds since 1970

	mu      sync.Mutex           // guards the fields below; it is not held while a provider is opened or closed
	said    *settings            // of the snapshot
	back    map[string]takenBack // by the names of providers
	trials  map[string]*trial    // by the names of providers
	attempt attempt              // the present one of opening
	open    *open                // nil while the tenant is cold
	opening *opening             // nil while nothing is opened
	failure *failure             // of the last opening; nil for none
	retry   *time.Timer          // opens again what failed, while the earlier providers serve; nil if that is not due
	closed  bool
}

// An open tenant has a server, and a source whose providers can be replaced.
type open struct {
	of     *settings // that the providers were opened for
	source *runtime.Replaceable
	server *runtime.Server
}

// An opening is the work of one goroutine, for all that wait for it.
type opening struct {
	done chan struct{} // closed when it has ended
	err  error         // set before done is closed
}

// An attempt to open the providers of some settings can be given up for others.
type attempt struct {
	of     *settings // nil for none
	cancel context.CancelFunc
}

// A failure delays the next opening after one that failed.
type failure struct {
	err   error
	of    *settings
	until time.Time
	wait  time.Duration
}

const (
	minRetry = time.Second
	maxRetry = time.Minute
)

func newRoute(h *Host, id string) *route {
	live, _ := runtime.NewLive(runtime.LiveConfig{}) // fails for negative bounds alone
	r := &route{
		host: h, id: id, live: live, cursors: make([]byte, 32), back: map[string]takenBack{}, trials: map[string]*trial{},
	}
	r.log = slog.New(newTenantLog(h.cfg.Logger.Handler(), func() {
		h.leftOut.Warn(id, "records of the tenant left out: see 'wasmres logs' and 'wasmres crash'", "tenant", id)
	})).With("tenant", id)
	_, _ = rand.Read(r.cursors) // never fails
	if h.cfg.Processors != nil {
		r.share = h.cfg.Processors.NewShare(1)
	}
	r.members = &pool[*spec, *member]{isSame: (*spec).isSame}
	r.sets = &pool[[]*sharedMember, *set]{isSame: isSameMembers}
	return r
}

// set makes said what the route serves. Providers that changed are opened in the background.
func (r *route) set(said *settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said.isSame(said) {
		return
	}
	r.said = said
	for name, b := range r.back { // those are past whose end the snapshot has
		if c, ok := said.canaryOf(name); !ok || c.spec.version != b.version {
			delete(r.back, name)
		}
	}
	if said.plan != nil {
		r.bound(said.plan)
	}
	r.applyLocked()
}

// applyLocked serves what the snapshot says, but for canaries that were taken back.
func (r *route) applyLocked() {
	is := r.said.without(r.back)
	if was := r.is.Swap(is); is.isOff() && (was == nil || !was.isOff()) {
		r.host.work.Go(r.removeImages)
	}
	r.stopRetryLocked()
	r.stopTrialsLocked(is)
	if r.attempt.of != nil && !r.attempt.of.isSameProviders(is) {
		r.attempt.cancel() // what is being opened has no use, and may take long
	}
	switch {
	case r.open == nil:
	case is.isOff():
		r.closeLocked()
	case !isSameServer(r.open.of.tenant, is.tenant):
		r.closeLocked() // the next request opens it again
	case !r.open.of.isSameProviders(is):
		r.startLocked()
	}
}

// bound bounds what the tenant uses as its plan says.
func (r *route) bound(p *tenant.Plan) {
	providers, memory, starts := p.Live()
	err := r.live.Set(runtime.LiveConfig{Max: providers, Memory: memory, StartsPerMinute: starts})
	if err != nil {
		r.host.cfg.Logger.Error("processes of the tenant not bounded as its plan says", "tenant", r.id, "plan", p.Name, "err", err)
	}
	if r.share != nil {
		r.share.SetWeight(p.Weight)
	}
	if q := r.quota.Load(); q != nil {
		q.Set(p)
	}
}

// quotaOf returns what bounds the requests of the tenant, and makes it at the first request.
func (r *route) quotaOf(is *settings) *quota.Tenant {
	if q := r.quota.Load(); q != nil {
		return q
	}
	r.quota.CompareAndSwap(nil, r.host.cfg.Quotas.Tenant(r.id, is.plan)) // the same one for all that come at once
	return r.quota.Load()
}

// isSameServer reports whether the server of one tenant can serve the other.
func isSameServer(a, b *tenant.Tenant) bool {
	return slices.Equal(a.Hosts, b.Hosts) && slices.Equal(a.Origins, b.Origins) && a.Tools == b.Tools
}

// openServer returns the server of the tenant, and opens it if it is cold. ctx bounds the wait, not the work.
func (r *route) openServer(ctx context.Context) (*runtime.Server, error) {
	r.mu.Lock()
	if s := r.server.Load(); s != nil {
		r.mu.Unlock()
		return s, nil
	}
	if err := r.mayOpenLocked(); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	work := r.startLocked()
	r.mu.Unlock()
	select {
	case <-work.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if work.err != nil {
		return nil, work.err
	}
	if s := r.server.Load(); s != nil {
		return s, nil
	}
	return nil, unavailableFor("the configuration of the tenant has just changed: try again", minRetry)
}

// mayOpenLocked refuses to open what failed just before, or has been closed.
func (r *route) mayOpenLocked() error {
	now := time.Now()
	switch f := r.failure; {
	case r.closed || r.host.ctx.Err() != nil:
		return unavailableFor("the server is closing", 0)
	case f != nil && f.of == r.is.Load() && now.Before(f.until):
		return unavailableFor("the providers cannot be loaded", f.until.Sub(now))
	}
	return nil
}

// startLocked opens the providers of the present settings in a goroutine, unless one does that already.
func (r *route) startLocked() *opening {
	if r.opening != nil {
		return r.opening
	}
	work := &opening{done: make(chan struct{})}
	r.opening = work
	r.host.work.Go(func() { r.run(work) })
	return work
}

// run opens the providers until they are those of the present settings.
func (r *route) run(work *opening) {
	defer close(work.done)
	for {
		is := r.is.Load()
		err := r.tryOpen(is)
		r.mu.Lock()
		if r.is.Load() == is || r.closed || r.host.ctx.Err() != nil {
			r.opening, work.err = nil, r.noteLocked(is, err)
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// noteLocked remembers a failure, and returns it as clients see it.
func (r *route) noteLocked(is *settings, err error) error {
	if err == nil {
		r.failure = nil
		return nil
	}
	wait := minRetry
	if r.failure != nil && r.failure.of == is {
		wait = 2 * r.failure.wait
	}
	later := (*abi.Error)(nil) // a failure of the server, which passes
	if errors.As(err, &later) && later.Code == abi.CodeUnavailable {
		wait = max(wait, later.RetryAfter)
	}
	wait = min(wait, maxRetry)
	r.failure = &failure{err: err, of: is, until: time.Now().Add(wait), wait: wait}
	r.host.cfg.Logger.Error("tenant not opened", "tenant", r.id, "err", err, "retry_in", wait)
	if r.open != nil {
		r.retryLocked(wait)
	}
	return unavailableFor("the providers cannot be loaded", wait)
}

// retryLocked opens the providers of the present settings again after a wait, unless those change before.
func (r *route) retryLocked(wait time.Duration) {
	if r.closed {
		return
	}
	r.stopRetryLocked()
	r.retry = time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.retry != nil && !r.closed && r.open != nil {
			r.retry = nil
			r.startLocked()
		}
	})
}

func (r *route) stopRetryLocked() {
	if r.retry != nil {
		r.retry.Stop()
		r.retry = nil
	}
}

// openingContext returns the context in which providers of the tenant are opened: their owner is the tenant, which shares no page of
// native code with another one, and has its part of what is opened at once.
func (r *route) openingContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(runtime.WithOwner(r.host.ctx, r.id), openTime)
}

// tryOpen opens the providers of the settings, and has them serve.
func (r *route) tryOpen(is *settings) error {
	if is.isOff() {
		return nil
	}
	ctx, cancel := r.openingContext()
	defer cancel()
	r.mu.Lock()
	r.attempt = attempt{is, cancel}
	r.mu.Unlock()
	g, err := r.openGeneration(ctx, is)
	r.mu.Lock()
	r.attempt = attempt{}
	if err != nil {
		r.mu.Unlock()
		return err
	}
	owned, err := r.useLocked(is, g)
	if owned && err == nil {
		if len(is.spares) > 0 {
			r.host.work.Go(func() { r.openSpares(is, g) })
		}
		if wait, again := r.noteCanariesLocked(is, g.problems); again {
			r.retryLocked(wait)
		}
	}
	r.mu.Unlock()
	if !owned {
		err = errors.Join(err, g.Close())
		if r.is.Load().isOff() {
			r.removeImages() // g may have left some
		}
	}
	return err
}

// removeImages removes what guests of the tenant have had in memory, when the tenant was removed or disabled.
func (r *route) removeImages() {
	if err := r.host.cfg.Runtime.RemoveImages(r.id); err != nil {
		r.host.cfg.Logger.Warn("images of a tenant not removed", "tenant", r.id, "err", err)
	}
}

// useLocked has the providers of the settings serve. owned reports whether something closes g later: it is false if the
// present settings have no use for g, or on an error.
func (r *route) useLocked(is *settings, g *generation) (owned bool, err error) {
	now := r.is.Load() // which may have changed while the providers were opened
	switch {
	case r.closed:
		return false, context.Canceled
	case now.isOff() || !isSameServer(is.tenant, now.tenant) || !is.isSameProviders(now):
		return false, nil // set has closed what was open, or others are opened next
	case r.open == nil:
		return r.beginLocked(is, g)
	}
	if err := r.open.source.Replace(g); err != nil {
		return false, err
	}
	r.open.of = is
	return true, nil
}

// beginLocked makes the server of a tenant that was cold. owned is that of useLocked.
func (r *route) beginLocked(is *settings, g *generation) (owned bool, err error) {
	o := &open{of: is}
	o.source = runtime.NewReplaceable(r.id, "the tenant has no provider", r.host.cfg.Logger)
	if err := o.source.Replace(g); err != nil {
		return false, err
	}
	if o.server, err = runtime.NewServer(o.source.Source(), r.options(is)); err != nil {
		return true, errors.Join(fmt.Errorf("tenant %s: %w", r.id, err), o.source.Close())
	}
	r.last.Store(time.Now().UnixNano())
	r.open = o
	r.server.Store(o.server)
	return true, nil
}

// options are those of the server of a tenant.
func (r *route) options(is *settings) *runtime.ServerOptions {
	t := is.tenant
	return &runtime.ServerOptions{
		Tools: t.Tools, AllowedHosts: slices.Concat(r.host.cfg.AllowedHosts, t.Hosts), AllowedOrigins: t.Origins,
		Auth: r.host.cfg.Clients.Authenticator(r.id), Admission: &gate{r.quotaOf(is), func(limit string) { r.host.cfg.Limited(r.id, limit) }, r.host.cfg.IsUnrecorded, &r.host.streams}, AccessLog: r.record, Tracer: r.host.cfg.Tracer(r.id),
		Logger: r.log,
	}
}

// record notes that the tenant was used.
func (r *route) record(e accesslog.Entry) {
	r.last.Store(e.Time.Add(e.Duration).UnixNano())
	r.host.cfg.AccessLog(r.id, e)
	if is := r.is.Load(); is != nil && is.plan != nil && is.plan.AuditReads {
		r.host.cfg.Audit(r.id, e)
	}
}

// closeIfUnused makes the tenant cold if it has not been used for a while, and has no session or stream.
func (r *route) closeIfUnused(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil || r.opening != nil || now.UnixNano()-r.last.Load() < int64(r.host.cfg.Idle) || r.open.server.Open() > 0 {
		return
	}
	r.closeLocked()
}

// closeLocked makes the tenant cold: new requests open it again. Requests that have found its server are answered.
func (r *route) closeLocked() {
	o := r.open
	r.open = nil
	r.stopRetryLocked()
	r.server.Store(nil)
	r.host.work.Go(func() {
		select {
		case <-time.After(settleTime):
		case <-r.host.ctx.Done():
		}
		if err := o.close(); err != nil {
			r.host.cfg.Logger.Warn("tenant not closed", "tenant", r.id, "err", err)
		}
	})
}

// end ends the route, and returns what is open, which the caller closes. What the route closes itself is done when the work of
// its Host is.
func (r *route) end() *open {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.open
	r.open, r.closed = nil, true
	r.stopRetryLocked()
	return o
}

func (o *open) close() error { return errors.Join(o.server.Close(), o.source.Close()) }
