package kvcap_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/captest"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

// stuck is a store whose lists of slow/ wait until the call ends, as if another process held a lock.
type stuck struct{ kvcap.Store }

func (s stuck) List(ctx context.Context, prefix, after string, limit int) ([]abi.KVEntry, bool, error) {
	if prefix == "slow/" {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	return s.Store.List(ctx, prefix, after, limit)
}

func TestConformance(t *testing.T) {
	captest.Run(t, func(t *testing.T, observe capability.Observer) captest.Capability {
		store := openMemory(t, kvcap.Quota{}, nil)
		for i := range 1500 {
			put := kvcap.Put{Key: fmt.Sprintf("%04d%s", i, strings.Repeat("k", abi.MaxKey-4)), TTL: 1 << 40}
			if _, err := store.Put(t.Context(), put); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.Put(t.Context(), kvcap.Put{Key: "k", Value: make([]byte, 1<<20)}); err != nil {
			t.Fatal(err)
		}
		kv := kvcap.Open(stuck{store}, kvcap.Grant{ReadOnly: true}, observe)
		ask := func(service abi.Service, req abi.KVRequest) captest.Request {
			return captest.Request{Service: service, Message: req.Append(nil)}
		}
		return captest.Capability{
			Name: "kv", Services: kv.Services(), Close: kv.Close,
			Granted: ask(abi.ServiceKVGet, abi.KVRequest{Key: "k"}),
			Refused: ask(abi.ServiceKVPut, abi.KVRequest{Key: "k"}),
			Slow:    ask(abi.ServiceKVList, abi.KVRequest{Prefix: "slow/"}),
			Large:   ask(abi.ServiceKVList, abi.KVRequest{}),
		}
	})
}
