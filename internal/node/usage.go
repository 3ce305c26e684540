package node

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
	"github.com/wasmres/wasmres/runtime"
)

// UsageFile is the name of the file in the data folder that has what tenants have used.
const UsageFile = "usage.db"

// meter counts what a provider uses that is being opened.
func (n *Node) meter(of tenant.ProviderID, version int, l *runtime.Live) host.Meter {
	live := func() usage.Processes {
		s := l.Stats()
		return usage.Processes{Starts: s.Starts, Live: s.LiveTime, Memory: s.MemoryTime, Peak: uint64(max(l.TakePeak(), 0))}
	}
	m := n.usage.Meter(usage.Key{Tenant: of.Tenant, Provider: of.Provider, Version: version}, live)
	used := func(u runtime.Usage) {
		n.metrics.Used(of.Tenant, u)
		m.Call(outcomeOf(u.Code.String()), u.Fuel, u.CPU, u.Bytes)
	}
	again := func(u runtime.Usage) {
		n.metrics.Used(of.Tenant, runtime.Usage{CPU: u.CPU})
		m.CPU(u.CPU)
	}
	return host.Meter{Used: used, UsedAgain: again, Close: m.Close}
}

// outcomeOf returns how a request or call has ended, by the code that the access log has.
func outcomeOf(code string) usage.Outcome {
	switch code {
	case "ok":
		return usage.OK
	case "429", "busy", "unavailable":
		return usage.Limited
	}
	if telemetry.IsFault(code) {
		return usage.Failed
	}
	return usage.Refused
}

// Usage reads what tenants have used until now.
func (n *Node) Usage(ctx context.Context, q usage.Query) ([]usage.Row, error) {
	return n.usage.Read(ctx, q)
}

// measureStorage tells usage what tenants have on disk, at once and every ten minutes, until ctx ends.
func (n *Node) measureStorage(ctx context.Context) {
	tick := time.NewTicker(usage.StoreInterval)
	defer tick.Stop()
	for {
		for id := range n.store.Snapshot().Tenants {
			if s := n.storageOf(ctx, id); s != (usage.Storage{}) && ctx.Err() == nil {
				n.usage.Store(id, s)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// storageOf measures what a tenant has on disk.
func (n *Node) storageOf(ctx context.Context, id string) (s usage.Storage) {
	for _, size := range n.store.Snapshot().ModulesOf(id) {
		s.Modules += uint64(max(size, 0))
	}
	of := func(name string) uint64 { return sizeOf(ctx, filepath.Join(n.cfg.Settings.Data, "tenants", id, name)) }
	s.KV, s.Files, s.Logs = of("kv"), of("files"), of("log")+of("crashes")
	return s
}

// maxMeasured bounds how many files and folders of one folder are looked at.
const maxMeasured = 200_000

// sizeOf returns the bytes of the files below a folder; zero if there is none. It follows no links.
func sizeOf(ctx context.Context, dir string) (bytes uint64) {
	seen := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what goes away meanwhile has no size
		if seen++; seen > maxMeasured || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += uint64(max(info.Size(), 0))
		}
		return nil
	})
	return bytes
}
