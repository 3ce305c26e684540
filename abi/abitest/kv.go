package abitest

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const (
	getTemplate  = "kit://kv/{key}"
	keepTemplate = "kit://keep/{key}/{value}"
	swapTemplate = "kit://swap/{key}/{value}"
	dropTemplate = "kit://drop/{key}"
	keysTemplate = "kit://keys/{prefix}"
)

// A store is a key-value store. It keeps values for ever, and the last request of each service.
type store struct {
	t       testing.TB
	values  map[string]value
	version uint64 // of the next value
	page    int    // entries of one answer
	asked   map[abi.Service]abi.KVRequest
	gotten  func() // is called after each get; nil for nothing
}

type value struct {
	text    string
	version uint64
}

// newStore makes a store of some values, all of version 1. The versions of others begin with version.
func newStore(t testing.TB, version uint64, values map[string]string) *store {
	s := &store{t: t, values: map[string]value{}, version: version, page: 100, asked: map[abi.Service]abi.KVRequest{}}
	for key, text := range values {
		s.values[key] = value{text, 1}
	}
	return s
}

func (s *store) services() map[abi.Service]Service {
	services := map[abi.Service]Service{}
	for service, serve := range map[abi.Service]func(*abi.KVRequest) ([]byte, []byte, error){
		abi.ServiceKVGet: s.get, abi.ServiceKVPut: s.put, abi.ServiceKVDelete: s.drop, abi.ServiceKVList: s.list,
	} {
		services[service] = func(request []byte) (message, body []byte, err error) {
			var req abi.KVRequest
			if err := req.Decode(request); err != nil {
				s.t.Errorf("service %d: %v", service, err)
				return nil, nil, err
			}
			req.Value = slices.Clone(req.Value)
			s.asked[service] = req
			return serve(&req)
		}
	}
	return services
}

func (s *store) entries(key string) []abi.KVEntry {
	v, ok := s.values[key]
	if !ok {
		return nil
	}
	return []abi.KVEntry{{Key: key, Size: uint64(len(v.text)), Version: v.version}}
}

// set puts a value.
func (s *store) set(key, text string) {
	s.values[key] = value{text, s.version}
	s.version--
}

func (s *store) get(req *abi.KVRequest) (message, body []byte, err error) {
	v, ok := s.values[req.Key]
	if !ok {
		return nil, nil, &abi.Error{Code: abi.CodeNotFound}
	}
	message = (&abi.KVResponse{Entries: s.entries(req.Key)}).Append(nil)
	if s.gotten != nil {
		s.gotten()
	}
	return message, []byte(v.text), nil
}

func (s *store) put(req *abi.KVRequest) (message, body []byte, err error) {
	v, there := s.values[req.Key]
	conflict := req.IfAbsent && there || req.IfVersion != 0 && req.IfVersion != v.version
	if !conflict {
		s.set(req.Key, string(req.Value))
	}
	return (&abi.KVResponse{Entries: s.entries(req.Key), Conflict: conflict}).Append(nil), nil, nil
}

func (s *store) drop(req *abi.KVRequest) (message, body []byte, err error) {
	delete(s.values, req.Key)
	return nil, nil, nil
}

func (s *store) list(req *abi.KVRequest) (message, body []byte, err error) {
	limit := s.page
	if req.Limit > 0 {
		limit = int(min(req.Limit, uint64(limit)))
	}
	resp := &abi.KVResponse{}
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		if key <= req.After || !strings.HasPrefix(key, req.Prefix) {
			continue
		}
		if resp.More = len(resp.Entries) == limit; resp.More {
			break
		}
		resp.Entries = append(resp.Entries, s.entries(key)...)
	}
	return resp.Append(nil), nil, nil
}

func (k *kit) testKV(t *testing.T) {
	values := map[string]string{
		"text": "a value", "empty": "", "bytes": pattern(0, 256), "größe/狐": "🦊", "large": pattern(0, 1_000_000),
	}
	for key, value := range values {
		wantGranted(t, k.granted(t, newStore(t, 1, values).services(), getTemplate, "key", key), abi.KindBlob, value)
	}
	wantCode(t, k.granted(t, newStore(t, 1, values).services(), getTemplate, "key", "absent"), abi.CodeNotFound)

	for name, c := range map[string]struct {
		template, key, value string
		was, is              map[string]string
		want                 string
		put                  abi.KVRequest
	}{
		"keep": {
			keepTemplate, "a", "new", map[string]string{"b": "other"}, map[string]string{"a": "new", "b": "other"},
			"put 18446744073709551615", abi.KVRequest{Key: "a", Value: []byte("new"), TTLMillis: 1500, IfAbsent: true},
		},
		"keep nothing": {
			keepTemplate, "größe", "", nil, map[string]string{"größe": ""},
			"put 18446744073709551615", abi.KVRequest{Key: "größe", TTLMillis: 1500, IfAbsent: true},
		},
		"keep what is there": {
			keepTemplate, "a", "new", map[string]string{"a": "old"}, map[string]string{"a": "old"},
			"is 1", abi.KVRequest{Key: "a", Value: []byte("new"), TTLMillis: 1500, IfAbsent: true},
		},
		"swap": {
			swapTemplate, "a", "nëw", map[string]string{"a": "old"}, map[string]string{"a": "nëw"},
			"put 18446744073709551615", abi.KVRequest{Key: "a", Value: []byte("nëw"), IfVersion: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, math.MaxUint64, c.was)
			o := k.granted(t, s.services(), c.template, "key", c.key, "value", c.value)
			wantGranted(t, o, abi.KindText, c.want)
			wantPut(t, s, c.put)
			s.wantValues(c.is)
		})
	}
	t.Run("swap what changes", func(t *testing.T) {
		s := newStore(t, 1<<53+1, nil)
		s.set("a", "old")
		s.gotten = func() { s.set("a", "of others") }
		o := k.granted(t, s.services(), swapTemplate, "key", "a", "value", "new")
		wantGranted(t, o, abi.KindText, "is 9007199254740992")
		wantPut(t, s, abi.KVRequest{Key: "a", Value: []byte("new"), IfVersion: 1<<53 + 1})
		s.wantValues(map[string]string{"a": "of others"})
	})
	t.Run("swap nothing", func(t *testing.T) {
		s := newStore(t, 1, nil)
		wantCode(t, k.granted(t, s.services(), swapTemplate, "key", "a", "value", "new"), abi.CodeNotFound)
		s.wantValues(nil)
	})
	t.Run("drop", func(t *testing.T) {
		s := newStore(t, 1, map[string]string{"a": "old", "b": "other"})
		wantGranted(t, k.granted(t, s.services(), dropTemplate, "key", "a"), abi.KindText, "gone")
		s.wantValues(map[string]string{"b": "other"})
		if got := s.asked[abi.ServiceKVDelete].IfVersion; got != 0 {
			t.Errorf("the guest asks with if_version %d", got)
		}
		wantGranted(t, k.granted(t, s.services(), dropTemplate, "key", "a"), abi.KindText, "gone")
	})
}

func wantPut(t *testing.T, s *store, want abi.KVRequest) {
	t.Helper()
	if got := s.asked[abi.ServiceKVPut]; !reflect.DeepEqual(got, want) {
		t.Errorf("the guest puts %+v, want %+v", got, want)
	}
}

func (s *store) wantValues(want map[string]string) {
	s.t.Helper()
	got := map[string]string{}
	for key, v := range s.values {
		got[key] = v.text
	}
	if !maps.Equal(got, want) {
		s.t.Errorf("the store has %q, want %q", got, want)
	}
}

func (k *kit) testKeys(t *testing.T) {
	values := map[string]string{"a": "1", "ä": "2", "b": "3", "notes/": "4"}
	for i := range 250 {
		values[fmt.Sprintf("notes/%d/größe", i)] = ""
	}
	for _, prefix := range []string{"", "a", "notes/", "notes/1", "nothing"} {
		for _, page := range []int{1, 7, 100, 1000} {
			if page == 1 && prefix == "" {
				continue // 250 calls show no more
			}
			t.Run(fmt.Sprintf("%q by %d", prefix, page), func(t *testing.T) {
				s := newStore(t, 1, values)
				s.page = page
				var want strings.Builder
				for _, key := range slices.Sorted(maps.Keys(values)) {
					if strings.HasPrefix(key, prefix) {
						want.WriteString(key + "\n")
					}
				}
				o := k.granted(t, s.services(), keysTemplate, "prefix", prefix)
				wantGranted(t, o, abi.KindText, want.String())
			})
		}
	}
	t.Run("error midway", func(t *testing.T) {
		s := newStore(t, 1, values)
		s.page = 7
		services, pages := s.services(), 0
		list := services[abi.ServiceKVList]
		services[abi.ServiceKVList] = func(request []byte) (message, body []byte, err error) {
			if pages++; pages == 3 {
				return nil, nil, &abi.Error{Code: abi.CodeUnavailable}
			}
			return list(request)
		}
		wantCode(t, k.granted(t, services, keysTemplate, "prefix", ""), abi.CodeUnavailable)
	})
}
