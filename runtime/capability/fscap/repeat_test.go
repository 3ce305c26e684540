package fscap_test

import (
	"maps"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

func TestOnlyReadsMayBeRepeated(t *testing.T) {
	got := map[abi.Service]bool{}
	for id, service := range granted(t) {
		got[id] = service.(capability.Repeatable).MayRepeat(nil)
	}
	want := map[abi.Service]bool{
		abi.ServiceFileStat: true, abi.ServiceFileRead: true, abi.ServiceFileList: true,
		abi.ServiceFileWrite: false, abi.ServiceFileRemove: false,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
