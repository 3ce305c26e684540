package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// noMain names the variable that has the test program do without runtime.Main.
const noMain = "WASMRES_TEST_NO_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(noMain) != "" {
		runWithoutMain()
		return
	}
	runtime.Main()
	m.Run()
}

// runWithoutMain opens a provider as a program that forgot to call Main, and then as one that does not need it.
func runWithoutMain() {
	ctx := context.Background()
	_, err := runtime.Load(ctx, greeting, nil)
	fmt.Println(err)
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone})
	if err != nil {
		log.Fatal(err)
	}
	p, err := h.Load(ctx, greeting, nil)
	if err != nil {
		log.Fatal(err)
	}
	contents, err := p.Read(ctx, "greeting://Ada")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contents[0].Text())
	if err := errors.Join(p.Close(), h.Close()); err != nil {
		log.Fatal(err)
	}
}

// newHost makes a host with the cache of all tests, until the end of the test.
func newHost(t testing.TB, isolation runtime.Isolation) *runtime.Host {
	t.Helper()
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: isolation, CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// load loads a provider on a host of its own, until the end of the test.
func load(t testing.TB, module []byte, opts *runtime.Options) *runtime.Provider {
	t.Helper()
	p, err := newHost(t, runtime.IsolateDefault).Load(t.Context(), module, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// serve serves a source over HTTP until the end of the test, and gives the endpoint.
func serve(t testing.TB, source resource.Source) string {
	t.Helper()
	server, err := runtime.NewServer(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String() + "/mcp"
}
