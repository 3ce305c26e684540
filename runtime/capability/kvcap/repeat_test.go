package kvcap_test

import (
	"maps"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
)

func TestOnlyReadsMayBeRepeated(t *testing.T) {
	kv := kvcap.Open(openMemory(t, kvcap.Quota{}, time.Now), kvcap.Grant{}, nil)
	got := map[abi.Service]bool{}
	for id, service := range kv.Services() {
		got[id] = service.(capability.Repeatable).MayRepeat(nil)
	}
	want := map[abi.Service]bool{
		abi.ServiceKVGet: true, abi.ServiceKVList: true, abi.ServiceKVPut: false, abi.ServiceKVDelete: false,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
