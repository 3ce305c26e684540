package fscap_test

import (
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/captest"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

func TestConformance(t *testing.T) {
	captest.Run(t, func(t *testing.T, observe capability.Observer) captest.Capability {
		dir := t.TempDir()
		write(t, dir, "large.bin", string(make([]byte, 3<<20)))
		fs, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/data"}}, observe)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(service abi.Service, path string) captest.Request {
			return captest.Request{Service: service, Message: (&abi.FileRequest{Path: path}).Append(nil)}
		}
		return captest.Capability{
			Name: "fs", Services: fs.Services(), Close: fs.Close,
			Granted: ask(abi.ServiceFileStat, "/data/large.bin"),
			Refused: ask(abi.ServiceFileRead, "/etc/passwd"),
			Large:   ask(abi.ServiceFileRead, "/data/large.bin"),
		}
	})
}
