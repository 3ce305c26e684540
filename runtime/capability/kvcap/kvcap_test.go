package kvcap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/kvtest"
)

// A guest calls the services.
type guest struct {
	*testing.T
	services capability.Services
	clock    *kvtest.Clock
	uses     []capability.Use
}

func begin(t *testing.T, grant kvcap.Grant) *guest {
	g := &guest{T: t, clock: kvtest.NewClock()}
	store := openMemory(t, kvcap.Quota{MaxKeys: 100}, g.clock.Now)
	kv := kvcap.Open(store, grant, func(_ context.Context, use capability.Use) { g.uses = append(g.uses, use) })
	g.services = kv.Services()
	t.Cleanup(func() {
		if err := kv.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *guest) ask(service abi.Service, req abi.KVRequest) (abi.KVResponse, string, error) {
	g.Helper()
	resp, err := g.services[service].Call(g.Context(), req.Append(nil))
	var message abi.KVResponse
	if err == nil {
		err = message.Decode(resp.Message)
	}
	return message, string(resp.Body), err
}

// one calls a service that answers with one entry.
func (g *guest) one(service abi.Service, req abi.KVRequest) (abi.KVEntry, string) {
	g.Helper()
	message, body, err := g.ask(service, req)
	if err != nil || len(message.Entries) != 1 || message.More || message.Conflict {
		g.Fatalf("service %d, %+v: got %+v, %v", service, req, message, err)
	}
	return message.Entries[0], body
}

func TestValuesArePutGotAndDeleted(t *testing.T) {
	g := begin(t, kvcap.Grant{})
	entry, _ := g.one(abi.ServiceKVPut, abi.KVRequest{Key: "k", Value: []byte("a\x00b"), TTLMillis: 1000})
	want := abi.KVEntry{Key: "k", Size: 3, ExpiresMillis: g.clock.Now().UnixMilli() + 1000, Version: entry.Version}
	if entry != want || entry.Version == 0 {
		t.Errorf("got %+v, want %+v", entry, want)
	}
	if got, body := g.one(abi.ServiceKVGet, abi.KVRequest{Key: "k"}); got != entry || body != "a\x00b" {
		t.Errorf("got %+v, %q", got, body)
	}
	got, _, err := g.ask(abi.ServiceKVDelete, abi.KVRequest{Key: "k"})
	if len(got.Entries) > 0 || got.Conflict || err != nil {
		t.Errorf("delete: got %+v, %v", got, err)
	}
	if _, _, err := g.ask(abi.ServiceKVGet, abi.KVRequest{Key: "k"}); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestConflictsNameTheExistingEntry(t *testing.T) {
	g := begin(t, kvcap.Grant{})
	entry, _ := g.one(abi.ServiceKVPut, abi.KVRequest{Key: "k", IfAbsent: true})
	for _, c := range []struct {
		service abi.Service
		req     abi.KVRequest
		there   int
	}{
		{abi.ServiceKVPut, abi.KVRequest{Key: "k", IfAbsent: true}, 1},
		{abi.ServiceKVPut, abi.KVRequest{Key: "k", IfVersion: entry.Version + 1}, 1},
		{abi.ServiceKVDelete, abi.KVRequest{Key: "k", IfVersion: entry.Version + 1}, 1},
		{abi.ServiceKVPut, abi.KVRequest{Key: "none", IfVersion: entry.Version}, 0},
		{abi.ServiceKVDelete, abi.KVRequest{Key: "none", IfVersion: entry.Version}, 0},
	} {
		got, _, err := g.ask(c.service, c.req)
		if err != nil || !got.Conflict || len(got.Entries) != c.there || c.there > 0 && got.Entries[0] != entry {
			t.Errorf("service %d, %+v: got %+v, %v", c.service, c.req, got, err)
		}
	}
	g.one(abi.ServiceKVPut, abi.KVRequest{Key: "k", IfVersion: entry.Version})
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	g := begin(t, kvcap.Grant{})
	long := strings.Repeat("k", abi.MaxKey+1)
	for _, service := range []abi.Service{abi.ServiceKVGet, abi.ServiceKVPut, abi.ServiceKVDelete} {
		for _, key := range []string{"", long, "a\x00", "a\nb", "\x7f", "\u0085"} {
			if got, _, err := g.ask(service, abi.KVRequest{Key: key}); abi.CodeOf(err) != abi.CodeInvalidParams {
				t.Errorf("service %d, key %.20q: got %+v, %v", service, key, got, err)
			}
		}
	}
	for _, c := range []struct {
		service abi.Service
		req     abi.KVRequest
		code    abi.Code
	}{
		{abi.ServiceKVPut, abi.KVRequest{Key: "k", IfAbsent: true, IfVersion: 1}, abi.CodeInvalidParams},
		{abi.ServiceKVPut, abi.KVRequest{Key: "k", TTLMillis: 1<<64 - 1}, abi.CodeInvalidParams},
		{abi.ServiceKVPut, abi.KVRequest{Key: "k", Value: make([]byte, 1<<20+1)}, abi.CodeTooLarge},
		{abi.ServiceKVList, abi.KVRequest{Prefix: long}, abi.CodeInvalidParams},
		{abi.ServiceKVList, abi.KVRequest{After: long}, abi.CodeInvalidParams},
		{abi.ServiceKVList, abi.KVRequest{Prefix: "\n"}, abi.CodeInvalidParams},
	} {
		if got, _, err := g.ask(c.service, c.req); abi.CodeOf(err) != c.code {
			t.Errorf("service %d: got %+v, %v, want %v", c.service, got, err, c.code)
		}
	}
	if got, _, err := g.ask(abi.ServiceKVList, abi.KVRequest{}); len(got.Entries) > 0 || err != nil {
		t.Errorf("afterwards there is %+v, %v", got, err)
	}
}

func TestListsContinueAfterAKey(t *testing.T) {
	g := begin(t, kvcap.Grant{})
	for i := range 7 {
		g.one(abi.ServiceKVPut, abi.KVRequest{Key: fmt.Sprint("n/", i), Value: make([]byte, i)})
	}
	g.one(abi.ServiceKVPut, abi.KVRequest{Key: "o"})
	var sizes []uint64
	req := abi.KVRequest{Prefix: "n/", Limit: 3}
	for more := true; more; {
		page, _, err := g.ask(abi.ServiceKVList, req)
		if err != nil || len(page.Entries) > 3 || len(page.Entries) == 0 {
			t.Fatalf("got %+v, %v", page, err)
		}
		for _, e := range page.Entries {
			sizes = append(sizes, e.Size)
			req.After = e.Key
		}
		more = page.More
	}
	if fmt.Sprint(sizes) != "[0 1 2 3 4 5 6]" {
		t.Errorf("got sizes %v", sizes)
	}
}

func TestAReadOnlyGrantChangesNothing(t *testing.T) {
	g := begin(t, kvcap.Grant{ReadOnly: true})
	for _, service := range []abi.Service{abi.ServiceKVPut, abi.ServiceKVDelete} {
		if _, _, err := g.ask(service, abi.KVRequest{Key: "k"}); abi.CodeOf(err) != abi.CodeDenied {
			t.Errorf("service %d: got %v", service, err)
		}
	}
	if len(g.uses) != 2 || g.uses[0].Rule != "read-only" || g.uses[1].Code != abi.CodeDenied {
		t.Errorf("observed %+v", g.uses)
	}
	if got, _, err := g.ask(abi.ServiceKVList, abi.KVRequest{}); len(got.Entries) > 0 || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUsesAreObserved(t *testing.T) {
	g := begin(t, kvcap.Grant{})
	long := strings.Repeat("ä", 400)
	g.one(abi.ServiceKVPut, abi.KVRequest{Key: "a\"b", Value: []byte("value")})
	g.one(abi.ServiceKVGet, abi.KVRequest{Key: "a\"b"})
	_, _, _ = g.ask(abi.ServiceKVGet, abi.KVRequest{Key: long})
	_, _, _ = g.ask(abi.ServiceKVList, abi.KVRequest{Prefix: "a"})
	want := []capability.Use{
		{Capability: "kv", Subject: `put "a\"b"`, Bytes: 5},
		{Capability: "kv", Subject: `get "a\"b"`, Bytes: 5},
		{Capability: "kv", Subject: `get "` + strings.Repeat("ä", 256) + `"`, Code: abi.CodeNotFound},
		{Capability: "kv", Subject: `list "a"`},
	}
	for i, use := range g.uses {
		use.Elapsed = 0
		if i >= len(want) || use != want[i] {
			t.Errorf("observed %+v", use)
		}
	}
	if len(g.uses) != len(want) {
		t.Errorf("observed %d uses, want %d", len(g.uses), len(want))
	}
}

// failing is a store that fails.
type failing struct {
	kvcap.Store
	err error
}

func (b failing) Get(context.Context, string) (abi.KVEntry, []byte, error) {
	return abi.KVEntry{}, nil, b.err
}

func TestErrorsShowNothingOfTheHost(t *testing.T) {
	private := errors.New("/home/ada/kv: failing")
	for _, c := range []struct {
		err  error
		code abi.Code
	}{
		{private, abi.CodeInternal},
		{fmt.Errorf("%w: %w", kvcap.ErrClosed, private), abi.CodeUnavailable},
		{fmt.Errorf("%w: %w", kvcap.ErrNotFound, private), abi.CodeNotFound},
		{abi.Errorf(abi.CodeUnavailable, "later").Because(private), abi.CodeUnavailable},
		{context.DeadlineExceeded, abi.CodeDeadline},
	} {
		services := kvcap.Open(failing{err: c.err}, kvcap.Grant{}, nil).Services()
		_, err := services[abi.ServiceKVGet].Call(t.Context(), (&abi.KVRequest{Key: "k"}).Append(nil))
		if abi.CodeOf(err) != c.code || strings.Contains(err.Error(), "/home") {
			t.Errorf("%v: got %v of code %v, want %v", c.err, err, abi.CodeOf(err), c.code)
		}
	}
}

func TestQuotasAreChecked(t *testing.T) {
	for _, q := range []kvcap.Quota{{MaxKeys: -1}, {MaxBytes: -1}, {MaxValue: -1}, {MaxValue: 1<<20 + 1}} {
		if _, err := kvcap.NewMemory(q, nil); err == nil {
			t.Errorf("%+v is accepted", q)
		}
	}
	want := kvcap.Quota{MaxKeys: 10_000, MaxBytes: 16 << 20, MaxValue: 1 << 20}
	if got, err := (kvcap.Quota{}).WithDefaults(); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestVersionsBeginWithTheTime(t *testing.T) {
	now := time.UnixMicro(1_000_000)
	for _, c := range []struct{ last, want uint64 }{
		{0, 1_000_000}, {999_999, 1_000_000}, {1_000_000, 1_000_001}, {2_000_000, 2_000_001},
	} {
		if got := kvcap.NextVersion(c.last, now); got != c.want {
			t.Errorf("after %d: got %d, want %d", c.last, got, c.want)
		}
	}
	if got := kvcap.NextVersion(0, time.Time{}); got != 1 {
		t.Errorf("before 1970: got %d", got)
	}
}

func BenchmarkCapability(b *testing.B) {
	store, err := kvcap.NewMemory(kvcap.Quota{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	put := kvcap.Put{Key: "some/key", Value: make([]byte, 100)}
	kv := kvcap.Open(store, kvcap.Grant{}, func(context.Context, capability.Use) {})
	request := (&abi.KVRequest{Key: put.Key, Value: put.Value}).Append(nil)
	b.Run("put/store", func(b *testing.B) {
		for b.Loop() {
			if _, err := store.Put(b.Context(), put); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get/store", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := store.Get(b.Context(), put.Key); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, service := range map[string]abi.Service{"put": abi.ServiceKVPut, "get": abi.ServiceKVGet} {
		call := kv.Services()[service]
		b.Run(name+"/capability", func(b *testing.B) {
			for b.Loop() {
				if _, err := call.Call(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
