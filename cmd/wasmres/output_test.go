package main

import (
	"net"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// TestAnAddressInUse says what to do about it.
func TestAnAddressInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	addr := listener.Addr().String()
	_, said := say(t, cli.StatusFailed, "run", "--cache-dir", guesttest.CacheDir(t), "--isolation", "in-process", "--http", addr, guesttest.File(t, "hello"))
	want := "wasmres: another program listens at " + addr + ": end it, or choose another port, as with --http 127.0.0.1:0 ("
	if !strings.Contains(said, want) {
		t.Errorf("got %s\nwant %s", said, want)
	}
}
