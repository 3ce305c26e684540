package kvcap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	maxAnswer  = 1 << 20                     // bytes of a message or a body
	maxEntry   = abi.MaxKey + 64             // encoded bytes of an entry, its tag and length included
	maxEntries = (maxAnswer - 64) / maxEntry // of one answer
	maxTTL     = 100 * 365 * 24 * time.Hour
)

// A Grant is what a provider may do with its values.
type Grant struct {
	ReadOnly bool // get and list, but neither put nor delete
}

// A KV answers the key-value services from a store. It is safe for concurrent use.
type KV struct {
	store   Store
	grant   Grant
	observe capability.Observer
}

// Open returns access to the values of a store, which the KV takes over and closes. observe receives each use; it may
// be nil.
func Open(store Store, grant Grant, observe capability.Observer) *KV {
	return &KV{store: store, grant: grant, observe: observe}
}

// Close closes the store. Calls that still run may fail. Closing again does nothing.
func (kv *KV) Close() error { return kv.store.Close() }

// Services returns the key-value services, to be granted together.
func (kv *KV) Services() capability.Services {
	return capability.Services{
		abi.ServiceKVGet:    service{kv, "get", kv.get},
		abi.ServiceKVPut:    service{kv, "put", kv.put},
		abi.ServiceKVDelete: service{kv, "delete", kv.delete},
		abi.ServiceKVList:   service{kv, "list", kv.list},
	}
}

type service struct {
	kv   *KV
	verb string
	do   func(ctx context.Context, req *abi.KVRequest) (capability.Response, error)
}

// MayRepeat implements [capability.Repeatable].
func (s service) MayRepeat([]byte) bool { return s.verb == "get" || s.verb == "list" }

// Call implements [capability.Service].
func (s service) Call(ctx context.Context, request []byte) (capability.Response, error) {
	if err := ctx.Err(); err != nil {
		return capability.Response{}, err
	}
	var req abi.KVRequest
	if err := req.Decode(request); err != nil {
		return capability.Response{}, err
	}
	if s.kv.observe == nil {
		return s.do(ctx, &req)
	}
	began := time.Now()
	resp, err := s.do(ctx, &req)
	use := capability.Use{
		Capability: "kv", Subject: fmt.Sprintf("%s %.256q", s.verb, s.subject(&req)), Code: abi.CodeOf(err),
		Bytes: uint64(len(req.Value) + len(resp.Body)), Elapsed: time.Since(began),
	}
	if use.Code == abi.CodeDenied {
		use.Rule = "read-only"
	}
	s.kv.observe(ctx, use)
	return resp, err
}

// subject is the object of a request in a [capability.Use].
func (s service) subject(req *abi.KVRequest) string {
	if s.verb == "list" {
		return req.Prefix
	}
	return req.Key
}

func (kv *KV) get(ctx context.Context, req *abi.KVRequest) (capability.Response, error) {
	if err := checkKey(req.Key); err != nil {
		return capability.Response{}, err
	}
	entry, value, err := kv.store.Get(ctx, req.Key)
	if err != nil {
		return capability.Response{}, classify(req.Key, err)
	}
	if len(value) > maxAnswer {
		return capability.Response{}, abi.Errorf(abi.CodeTooLarge, "the value of %.128q has %d bytes", req.Key, len(value))
	}
	resp := respond([]abi.KVEntry{entry}, false, false)
	resp.Body = value
	return resp, nil
}

func (kv *KV) put(ctx context.Context, req *abi.KVRequest) (capability.Response, error) {
	if err := kv.checkChange(req.Key); err != nil {
		return capability.Response{}, err
	}
	if req.IfAbsent && req.IfVersion != 0 {
		return capability.Response{}, invalid("put %.128q: if_version and if_absent exclude each other", req.Key)
	}
	if req.TTLMillis > uint64(maxTTL/time.Millisecond) {
		return capability.Response{}, invalid("put %.128q: the time to live may be 100 years at most, or 0 for no end", req.Key)
	}
	entry, err := kv.store.Put(ctx, Put{
		Key: req.Key, Value: req.Value, TTL: time.Duration(req.TTLMillis) * time.Millisecond,
		IfVersion: req.IfVersion, IfAbsent: req.IfAbsent,
	})
	return changed(req.Key, entry, err)
}

func (kv *KV) delete(ctx context.Context, req *abi.KVRequest) (capability.Response, error) {
	if err := kv.checkChange(req.Key); err != nil {
		return capability.Response{}, err
	}
	entry, err := kv.store.Delete(ctx, req.Key, req.IfVersion)
	return changed(req.Key, entry, err)
}

func (kv *KV) list(ctx context.Context, req *abi.KVRequest) (capability.Response, error) {
	for _, text := range []string{req.Prefix, req.After} {
		if len(text) > abi.MaxKey || !plain(text) {
			return capability.Response{}, invalid("%.128q is not a valid key or prefix of keys", text)
		}
	}
	limit := maxEntries
	if req.Limit > 0 {
		limit = int(min(req.Limit, maxEntries))
	}
	entries, more, err := kv.store.List(ctx, req.Prefix, req.After, limit)
	if err != nil {
		return capability.Response{}, classify(req.Prefix, err)
	}
	return respond(entries, more, false), nil
}

func checkKey(key string) error {
	if key == "" || len(key) > abi.MaxKey || !plain(key) {
		return invalid("%.128q is not a valid key: use 1 to %d bytes of UTF-8 without control characters", key, abi.MaxKey)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidParams, format, args...)
}

// checkChange refuses changes under a read-only grant, and invalid keys.
func (kv *KV) checkChange(key string) error {
	if kv.grant.ReadOnly {
		return abi.Errorf(abi.CodeDenied, "the key-value store is granted read-only")
	}
	return checkKey(key)
}

// changed answers a put or a delete.
func changed(key string, entry abi.KVEntry, err error) (capability.Response, error) {
	conflict := errors.Is(err, ErrConflict)
	if err != nil && !conflict {
		return capability.Response{}, classify(key, err)
	}
	if entry.Version == 0 {
		return respond(nil, false, conflict), nil
	}
	return respond([]abi.KVEntry{entry}, false, conflict), nil
}

// classify returns the public error, which shows nothing about the host.
func classify(key string, err error) error {
	var public *abi.Error
	switch {
	case errors.As(err, &public), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrNotFound):
		return abi.Errorf(abi.CodeNotFound, "no value with the key %.128q", key)
	case errors.Is(err, ErrClosed):
		return abi.Errorf(abi.CodeUnavailable, "the key-value store is closed")
	}
	return abi.Errorf(abi.CodeInternal, "the key-value store has failed").Because(err)
}

func respond(entries []abi.KVEntry, more, conflict bool) capability.Response {
	resp := abi.KVResponse{Entries: entries, More: more, Conflict: conflict}
	return capability.Response{Message: resp.Append(nil)}
}
