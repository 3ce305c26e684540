package wasmres_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

// keeping runs f as a handler, once with each read, where values are kept.
func keeping(t *testing.T, f func(kv wasmres.KVStore) error) *wasmrestest.Provider {
	t.Helper()
	p := start(t, func() {
		wasmres.Resource("t://run", func(*wasmres.Request) (string, error) { return "", f(wasmres.KV()) })
	})
	p.KV = &wasmrestest.KV{}
	return p
}

// run does a read and gives its error.
func run(p *wasmrestest.Provider) error {
	_, err := p.Read("t://run")
	return err
}

func TestKVKeepsValues(t *testing.T) {
	big := bytes.Repeat([]byte{0, 0xff}, 300_000)
	p := keeping(t, func(kv wasmres.KVStore) error {
		for key, value := range map[string][]byte{"k": []byte("v"), "empty": nil, "big": big} {
			put, err := kv.Put(key, value)
			if err != nil || put.Key != key || put.Size != int64(len(value)) || put.Version == 0 || !put.Expires.IsZero() {
				t.Errorf("put %s: got %+v, %v", key, put, err)
			}
			got, entry, err := kv.GetEntry(key)
			if got == nil || !bytes.Equal(got, value) || entry != put || err != nil {
				t.Errorf("get %s: got %.10q, %+v, %v; put had %+v", key, got, entry, err, put)
			}
		}
		if err := kv.Delete("empty"); err != nil {
			t.Error(err)
		}
		if _, err := kv.Get("empty"); !errors.Is(err, wasmres.ErrNotFound) {
			t.Errorf("got %v, want not found", err)
		}
		return kv.Delete("empty")
	})
	if err := run(p); err != nil {
		t.Error(err)
	}
	if got := p.KV.Keys(); !slices.Equal(got, []string{"big", "k"}) {
		t.Errorf("got %v", got)
	}
}

func TestKVConditions(t *testing.T) {
	p := keeping(t, func(kv wasmres.KVStore) error {
		first, err := kv.Put("k", []byte("1"), wasmres.IfAbsent())
		if err != nil {
			return err
		}
		if got, err := kv.Put("k", nil, wasmres.IfAbsent()); err != wasmres.ErrConflict || got != first {
			t.Errorf("put where something is: got %+v, %v", got, err)
		}
		second, err := kv.Put("k", []byte("2"), wasmres.IfVersion(first.Version))
		if err != nil || second.Version == first.Version {
			t.Errorf("got %+v, %v after %+v", second, err, first)
		}
		if got, err := kv.Put("k", nil, wasmres.IfVersion(first.Version)); err != wasmres.ErrConflict || got != second {
			t.Errorf("put over an old version: got %+v, %v", got, err)
		}
		if err := kv.DeleteVersion("k", first.Version); err != wasmres.ErrConflict {
			t.Errorf("delete of an old version: got %v", err)
		}
		if err := kv.DeleteVersion("k", second.Version); err != nil {
			t.Error(err)
		}
		got, err := kv.Put("k", nil, wasmres.IfVersion(second.Version))
		if err != wasmres.ErrConflict || got != (wasmres.KVEntry{}) {
			t.Errorf("put over what is gone: got %+v, %v", got, err)
		}
		for name, err := range map[string]error{
			"delete version 0":   kv.DeleteVersion("k", 0),
			"put version 0":      failure(kv.Put("k", nil, wasmres.IfVersion(0))),
			"put for no time":    failure(kv.Put("k", nil, wasmres.TTL(-time.Second))),
			"both conditions":    failure(kv.Put("k", nil, wasmres.IfAbsent(), wasmres.IfVersion(1))),
			"no key":             failure(kv.Put("", nil)),
			"a long key":         failure(kv.Put(strings.Repeat("k", 1025), nil)),
			"a key of two lines": failure(kv.Get("a\nb")),
		} {
			if !errors.Is(err, wasmres.ErrInvalid) {
				t.Errorf("%s: got %v, want invalid", name, err)
			}
		}
		if _, err := kv.Put("k", make([]byte, 1<<20)); !errors.Is(err, wasmres.ErrTooLarge) {
			t.Errorf("a large value: got %v", err)
		}
		return nil
	})
	if err := run(p); err != nil {
		t.Error(err)
	}
	if got := p.KV.Keys(); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
}

func failure[T any](_ T, err error) error { return err }

func TestKVForgetsWhatHasExpired(t *testing.T) {
	var got wasmres.KVEntry
	p := keeping(t, func(kv wasmres.KVStore) (err error) {
		_, got, err = kv.GetEntry("k")
		if errors.Is(err, wasmres.ErrNotFound) {
			got, err = kv.Put("k", []byte("v"), wasmres.TTL(1500*time.Microsecond))
		}
		return err
	})
	now := time.UnixMilli(1000)
	p.Now = func() time.Time { return now }
	for _, want := range []int64{1002, 1002, 1004} {
		if err := run(p); err != nil || got.Expires.UnixMilli() != want {
			t.Errorf("at %v: got %+v, %v; want it to expire at %d", now.UnixMilli(), got, err, want)
		}
		now = now.Add(time.Millisecond)
	}
}

func TestKVUpdate(t *testing.T) {
	calls := 0
	p := keeping(t, func(kv wasmres.KVStore) error {
		calls = 0
		_, err := kv.Update("count", func(old []byte) ([]byte, error) {
			if calls++; calls < 3 { // somebody else is quicker, twice
				if _, err := kv.Put("count", append(old, '!')); err != nil {
					return nil, err
				}
			}
			return append(old, '+'), nil
		}, wasmres.TTL(time.Hour))
		return err
	})
	for _, want := range []string{"!!+", "!!+!!+"} {
		if err := run(p); err != nil {
			t.Error(err)
		}
		if got, _ := p.KV.Value("count"); got != want || calls != 3 {
			t.Errorf("got %q after %d calls, want %q", got, calls, want)
		}
	}
	stop := errors.New("stop")
	err := inside(p, func(kv wasmres.KVStore) error {
		if _, err := kv.Update("count", func([]byte) ([]byte, error) { return nil, stop }); err != stop {
			t.Errorf("got %v", err)
		}
		_, err := kv.Update("count", func(old []byte) ([]byte, error) { return old, failure(kv.Put("count", old)) })
		return err
	})
	if !errors.Is(err, wasmres.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}

// inside does something as a handler of p would.
func inside(p *wasmrestest.Provider, f func(wasmres.KVStore) error) error {
	wasmres.Reset()
	wasmres.Provider("test", "1")
	wasmres.Resource("t://run", func(*wasmres.Request) (string, error) { return "", f(wasmres.KV()) })
	return run(p)
}

func TestKVKeys(t *testing.T) {
	p := keeping(t, func(kv wasmres.KVStore) error {
		for _, c := range []struct {
			prefix, after string
			first, last   string
			n             int
		}{
			{"", "", "a", "z", 602}, {"n/", "", "n/000", "n/599", 600}, {"n/", "n/255", "n/256", "n/599", 344},
			{"x", "", "", "", 0},
		} {
			var keys []string
			for entry, err := range kv.KeysAfter(c.prefix, c.after) {
				if err != nil {
					return err
				}
				keys = append(keys, entry.Key)
			}
			if len(keys) != c.n || !slices.IsSorted(keys) || c.n > 0 && (keys[0] != c.first || keys[c.n-1] != c.last) {
				t.Errorf("%+v: got %d keys: %.100v", c, len(keys), keys)
			}
		}
		for entry, err := range kv.Keys("n/") {
			if entry.Key != "n/000" || err != nil {
				t.Errorf("got %+v, %v", entry, err)
			}
			break
		}
		return nil
	})
	for i := range 600 {
		p.KV.Set(fmt.Sprintf("n/%03d", i), "v")
	}
	p.KV.Set("a", "v")
	p.KV.Set("z", "v")
	if err := run(p); err != nil {
		t.Error(err)
	}
}

func TestKVThatIsNotGranted(t *testing.T) {
	p := keeping(t, func(kv wasmres.KVStore) error {
		for _, err := range kv.Keys("") {
			return err
		}
		return nil
	})
	p.KV = nil
	if err := run(p); !errors.Is(err, wasmres.ErrDenied) {
		t.Errorf("got %v, want denied", err)
	}
	if _, err := wasmres.KV().Get("k"); !errors.Is(err, wasmres.ErrUnsupported) {
		t.Errorf("without a host: got %v", err)
	}
}
