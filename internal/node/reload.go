package node

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// A Report says what reading the files has changed.
type Report struct {
	Generation uint64            // of the configuration in force
	Tenants    int               // that are served
	Read       int               // files of tenants that were read again
	Added      []string          // IDs of tenants, sorted
	Changed    []string          // IDs, sorted
	Removed    []string          // IDs, sorted
	Problems   map[string]string // by tenant, or by file that is none; such a tenant is served as it last was
	Restart    []string          // keys of serve.yaml whose change takes effect when the server is started again, sorted
	Took       time.Duration

	before uint64           // the generation before it
	served *tenant.Snapshot // what is in force
}

// Reread reads all files again that have changed, and serves what they say now. Tenants that have not changed do not
// notice. If serve.yaml is wrong, or the store cannot be written, nothing changes, and the error says why.
func (n *Node) Reread(ctx context.Context) (*Report, error) {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	r, err := n.reread(ctx)
	n.unread.Store(nil)
	if err != nil {
		n.unread.Store(&err)
	}
	n.cfg.Changed()
	if failed := n.recordReload(ctx, r, err); failed != nil {
		return nil, failed
	}
	return r, err
}

// Unread returns why the last reading of files has changed nothing; nil if it has not failed.
func (n *Node) Unread() error {
	if err := n.unread.Load(); err != nil {
		return *err
	}
	return nil
}

func (n *Node) reread(ctx context.Context) (*Report, error) {
	s := n.settings.Load()
	if n.cfg.Read != nil {
		var err error
		if s, err = n.cfg.Read(); err != nil {
			return nil, err
		}
	}
	return n.reload(ctx, s)
}

// reload serves what the files of tenants say, by settings that have been read. The caller holds reloading.
func (n *Node) reload(ctx context.Context, s *tenant.Settings) (*Report, error) {
	began := time.Now()
	before := n.store.Snapshot()
	reading, err := n.reader.ReadTenants(s, before)
	if err != nil {
		return nil, err
	}
	change := reading.Change
	change.Actor, change.Owner = "files", tenant.OwnerFiles
	generation, err := n.apply(ctx, change)
	if err != nil {
		return nil, fmt.Errorf("keep the configuration: %w", err)
	}
	n.settings.Store(s)
	n.nameCertificates()
	n.policies = reading.Policies
	for _, id := range change.RemoveTenants {
		n.metrics.Remove(id)
	}
	served := n.store.Snapshot()
	r := &Report{
		Generation: generation, Tenants: len(served.Tenants), Read: reading.Read, Removed: change.RemoveTenants,
		Problems: served.Problems, Restart: needRestart(n.cfg.Settings, s), Took: time.Since(began),
		before: before.Generation, served: served,
	}
	for _, t := range change.SetTenants {
		if before.Tenants[t.ID] == nil {
			r.Added = append(r.Added, t.ID)
		} else {
			r.Changed = append(r.Changed, t.ID)
		}
	}
	slices.Sort(r.Added)
	slices.Sort(r.Changed)
	slices.Sort(r.Removed)
	return r, nil
}

// Apply makes a change of the store, and serves what it says before it returns.
func (n *Node) Apply(ctx context.Context, c tenant.Change) (generation uint64, err error) {
	if generation, err = n.apply(ctx, c); err == nil {
		n.cfg.Changed()
	}
	return generation, err
}

func (n *Node) apply(ctx context.Context, c tenant.Change) (generation uint64, err error) {
	if generation, err = n.store.Apply(ctx, c); err != nil {
		return 0, err
	}
	n.host.Update(n.store.Snapshot())
	n.nameCertificates()
	return generation, nil
}

// needRestart returns the keys of settings that a running server does not change.
func needRestart(now, next *tenant.Settings) (keys []string) {
	for key, values := range map[string][2]any{
		"access_log":      {now.AccessLog, next.AccessLog},
		"admin":           {now.Admin, next.Admin},
		"allowed_hosts":   {now.AllowedHosts, next.AllowedHosts},
		"data":            {now.Data, next.Data},
		"idle":            {now.Idle, next.Idle},
		"listen":          {withoutHosts(now.Listen), withoutHosts(next.Listen)},
		"log_format":      {now.LogJSON, next.LogJSON},
		"memory":          {now.LiveMemory, next.LiveMemory},
		"processors":      {now.Processors, next.Processors},
		"public_url":      {now.PublicURL, next.PublicURL},
		"registries":      {now.Registries, next.Registries},
		"secrets":         {now.SecretsKey, next.SecretsKey},
		"trusted_proxies": {now.TrustedProxies, next.TrustedProxies},
		"standby_workers": {now.StandbyWorkers, next.StandbyWorkers},
		"traces":          {now.Traces, next.Traces},
		"watch":           {now.Watch, next.Watch},
	} {
		if !reflect.DeepEqual(values[0], values[1]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// withoutHosts returns listeners without the hosts of their certificates, which a running server changes.
func withoutHosts(all []tenant.Listener) []tenant.Listener {
	all = slices.Clone(all)
	for i, l := range all {
		if l.ACME != nil {
			a := *l.ACME
			a.Hosts = nil
			all[i].ACME = &a
		}
	}
	return all
}

// publicHost returns the name in the URL by which clients reach the server; empty for none.
func publicHost(public string) string {
	u, err := url.Parse(public)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Watch reads the files again whenever they change, until ctx ends, and reports each reading that has changed something or
// failed. It returns at once if the settings do without.
func (n *Node) Watch(ctx context.Context, report func(*Report, error)) {
	if n.cfg.Settings.Watch {
		n.asWriter(ctx, func(ctx context.Context) { n.watch(ctx, report) })
	}
}

func (n *Node) watch(ctx context.Context, report func(*Report, error)) {
	w := tenant.Watch(ctx, n.cfg.Settings, n.cfg.Logger)
	defer func() { <-w.Done() }()
	var last string // problem that was reported
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Changed():
		}
		r, err := n.Reread(ctx)
		switch {
		case err != nil && err.Error() == last, ctx.Err() != nil:
			continue
		case err != nil:
			last = err.Error()
		default:
			last = ""
			n.reloading.Lock()
			w.Follow(n.settings.Load(), n.policies)
			n.reloading.Unlock()
			if r.IsEmpty() {
				continue
			}
		}
		report(r, err)
	}
}

// IsServed reports whether a tenant is served. One whose files are wrong is served as it last was, if it ever was right.
func (r *Report) IsServed(id string) bool { return r.served.Tenants[id] != nil }

// IsEmpty reports whether nothing has changed.
func (r *Report) IsEmpty() bool {
	return r.Generation == r.before && len(r.Added)+len(r.Changed)+len(r.Removed) == 0
}
