package sqlitekv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/captest"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

func TestConformance(t *testing.T) {
	captest.Run(t, func(t *testing.T, observe capability.Observer) captest.Capability {
		store := open(t, private(t), kvcap.Quota{}, nil)
		put(t, store, kvcap.Put{Key: "k", Value: make([]byte, 1<<20)})
		kv := kvcap.Open(store, kvcap.Grant{ReadOnly: true}, observe)
		ask := func(service abi.Service) captest.Request {
			return captest.Request{Service: service, Message: (&abi.KVRequest{Key: "k"}).Append(nil)}
		}
		return captest.Capability{
			Name: "kv", Services: kv.Services(), Close: kv.Close,
			Granted: ask(abi.ServiceKVGet), Refused: ask(abi.ServiceKVDelete), Large: ask(abi.ServiceKVGet),
		}
	})
}

// TestCallsThatEndHalfwayHarmNothing ends calls at any moment, and checks that acknowledged values are stored.
func TestCallsThatEndHalfwayHarmNothing(t *testing.T) {
	dir := private(t)
	s := open(t, dir, kvcap.Quota{}, nil)
	const goroutines, each = 4, 60
	var running sync.WaitGroup
	var mu sync.Mutex
	acknowledged, ended := map[string]abi.KVEntry{}, 0
	most := 1500 // microseconds of a call
	put := func(g int) {
		for i := range each {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(most))*time.Microsecond)
			key := fmt.Sprint(g, "/", i)
			entry, err := s.Put(ctx, kvcap.Put{Key: key, Value: make([]byte, rand.IntN(10_000))})
			_, _, _ = s.List(ctx, "", "", 100)
			cancel()
			mu.Lock()
			switch {
			case err == nil:
				acknowledged[key] = entry
			case errors.Is(err, context.DeadlineExceeded):
				ended++
			default:
				t.Errorf("put: %v", err)
			}
			mu.Unlock()
		}
	}
	for (len(acknowledged) == 0 || ended == 0) && !t.Failed() {
		for g := range goroutines {
			running.Go(func() { put(g) })
		}
		if running.Wait(); len(acknowledged) == 0 { // all were too short, as while the disk is busy
			most *= 2
		}
	}
	for key, want := range acknowledged {
		if entry, _, err := s.Get(t.Context(), key); entry != want || err != nil {
			t.Errorf("got %+v, %v; want %+v", entry, err, want)
		}
	}
	recount(t, dir, -1)
}

func TestDiskUseIsBounded(t *testing.T) {
	const quota = 1 << 20
	dir := private(t)
	s := open(t, dir, kvcap.Quota{MaxBytes: quota}, nil)
	for i := range 200 {
		value := make([]byte, rand.IntN(quota/5))
		_, err := s.Put(t.Context(), kvcap.Put{Key: fmt.Sprint(i % 20), Value: value})
		if err != nil && abi.CodeOf(err) != abi.CodeTooLarge {
			t.Fatal(err)
		}
	}
	taken := int64(0)
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			taken += info.Size()
		}
		return err
	})
	if most := int64(2*quota + 6<<20); taken > most || err != nil { // values, and the log
		t.Errorf("%d bytes are taken, %v; want at most %d", taken, err, most)
	}
}
