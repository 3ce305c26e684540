package runtime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
)

// TestALiveBoundsTheProcessesOfProviders has two providers that share one place, beside one that has another.
func TestALiveBoundsTheProcessesOfProviders(t *testing.T) {
	ends := make(chan runtime.LiveEnd, 100)
	cold := make(chan bool, 100)
	tenant, err := runtime.NewLive(runtime.LiveConfig{
		Max: 1, OnEnd: func(why runtime.LiveEnd) { ends <- why }, OnStart: func(_ time.Duration, c bool) { cold <- c },
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := runtime.NewLive(runtime.LiveConfig{Max: 2})
	if err != nil {
		t.Fatal(err)
	}
	h, err := runtime.NewHost(runtime.HostConfig{CacheDir: guesttest.CacheDir(t), Idle: time.Hour, Live: all, MaxStarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var providers []*runtime.Provider
	for _, group := range []*runtime.Live{tenant, tenant, nil} {
		p, err := h.Load(t.Context(), greeting, &runtime.Options{Live: group})
		if err != nil {
			t.Fatal(err)
		}
		providers = append(providers, p)
	}
	for range 2 {
		for _, p := range providers {
			if _, err := p.Read(t.Context(), "greeting://Ada"); err != nil {
				t.Error(err)
			}
		}
	}
	if got := tenant.Stats(); got.Live != 1 || got.Evictions < 4 || got.Starts != got.Ends+1 {
		t.Errorf("got %+v of the tenant, want one process, and four evictions and more", got)
	}
	if got := all.Stats(); got.Live != 2 || got.Waiting != 0 {
		t.Errorf("got %+v of all, want two processes", got)
	}
	if first, third := <-cold, func() bool { <-cold; return <-cold }(); first || !third {
		t.Errorf("the first start cold: %t, the third: %t, want the third alone", first, third)
	}
	if why := <-ends; why != runtime.EndEvicted {
		t.Errorf("got %s, want evicted", why)
	}
	for _, p := range providers {
		err = errors.Join(err, p.Close())
	}
	if err := errors.Join(err, h.Close()); err != nil {
		t.Error(err)
	}
	if got := tenant.Stats(); got.Live != 0 {
		t.Errorf("got %+v, want none alive", got)
	}
	if err := tenant.Set(runtime.LiveConfig{Memory: -1}); err == nil {
		t.Error("a negative bound was accepted")
	}
}
