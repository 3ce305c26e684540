//go:build linux

package hostile_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/capability/kvcap/sqlitekv"
)

// endless is more often than a guest can ask within its time.
const endless = 1_000_000

func serviceCases() (rows []serviceRow) {
	rows = []serviceRow{
		{"env", "flood", floodEnv},
		{"fs", "hang (simulated)", simulated(abi.ServiceFileRead, hang)},
		{"fs", "late (simulated)", simulated(abi.ServiceFileRead, late)},
		{"fs", "burn", files(abi.ServiceFileList, abi.FileRequest{Path: "/data"})},
		{"fs", "flood", files(abi.ServiceFileRead, abi.FileRequest{Path: "/data/large"})},
		{"kv", "hang (simulated)", simulated(abi.ServiceKVPut, hang)},
		{"kv", "hang (locked by another process)", lockedValues},
		{"kv", "flood", manyValues},
		{"http", "hang", web("", false)},
		{"http", "hang after 101", web("HTTP/1.1 101 Switching Protocols\r\n\r\n", true)},
		{"http", "hang in the header", web("HTTP/1.1 200 OK\r\nA:", false)},
		{"http", "hang in the body", web("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx", false)},
		{"http", "trickle in the header", webFlood("HTTP/1.1 200 OK\r\n", "A: b\r\n", 5*time.Millisecond)},
		{"http", "trickle in the body", webFlood("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x", 5*time.Millisecond)},
		{"http", "burn (compressed bomb)", webBomb},
		{"http", "flood", webFlood("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 64<<10), 0)},
		{"http", "late", webFlood("", "HTTP/1.1 204 No Content\r\n\r\n", serviceTimeout+50*time.Millisecond)},
		{"http", "close in the middle", webClose},
	}
	return append(rows, databaseCases()...)
}

func floodEnv(*testing.T, *backends) attacked {
	ask := guesttest.Ask(abi.ServiceKVGet, (&abi.ConfigRequest{Key: "large"}).Append(nil)).Times(endless)
	return attacked{
		services: capability.Services{abi.ServiceConfig: capability.Config{"large": strings.Repeat("x", 60<<10)}},
		ask:      []guesttest.Step{ask},
	}
}

// A simulation is a service in the place of one whose disk fails, which a test has none of.
type simulation func(end <-chan struct{})

func (s simulation) on(end <-chan struct{}) capability.Service { return simulatedService{s, end} }

type simulatedService struct {
	behave simulation
	end    <-chan struct{}
}

// Call implements [capability.Service]. It does not look at its context, as a read from a disk does not.
func (s simulatedService) Call(context.Context, []byte) (capability.Response, error) {
	s.behave(s.end)
	return capability.Response{Message: []byte("late")}, nil
}

func hang(end <-chan struct{}) { <-end }

func late(end <-chan struct{}) {
	select {
	case <-end:
	case <-time.After(2 * serviceTimeout):
	}
}

func simulated(id abi.Service, s simulation) func(*testing.T, *backends) attacked {
	return func(*testing.T, *backends) attacked {
		end := make(chan struct{})
		return attacked{
			services: capability.Services{id: s.on(end)}, ask: []guesttest.Step{guesttest.Ask(id, nil)},
			release: func() { close(end) },
		}
	}
}

func files(id abi.Service, req abi.FileRequest) func(*testing.T, *backends) attacked {
	return func(t *testing.T, _ *backends) attacked {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range 500 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		granted, err := fscap.Open([]fscap.Grant{{Host: dir, Guest: "/data"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeIt(t, granted) })
		return attacked{services: granted.Services(), ask: []guesttest.Step{guesttest.Ask(id, req.Append(nil)).Times(endless)}}
	}
}

// values opens a store on disk, and gives its file.
func values(t *testing.T) (kv *kvcap.KV, file string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kv")
	store, err := sqlitekv.Open(t.Context(), sqlitekv.Config{Dir: dir, Namespace: kvcap.Namespace{Provider: "hostile"}})
	if err != nil {
		t.Fatal(err)
	}
	kv = kvcap.Open(store, kvcap.Grant{}, nil)
	t.Cleanup(func() { closeIt(t, kv) })
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			return kv, name
		}
	}
	t.Fatalf("no store in %v", names)
	return nil, ""
}

func lockedValues(t *testing.T, _ *backends) attacked {
	kv, file := values(t)
	other, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIt(t, other) })
	lock, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(t.Context(), "begin exclusive"); err != nil {
		t.Fatal(err)
	}
	put := guesttest.Ask(abi.ServiceKVPut, (&abi.KVRequest{Key: "k", Value: []byte("v")}).Append(nil))
	return attacked{services: kv.Services(), ask: []guesttest.Step{put}, release: func() { closeIt(t, lock) }}
}

func manyValues(t *testing.T, _ *backends) attacked {
	kv, _ := values(t)
	put := guesttest.Ask(abi.ServiceKVPut, (&abi.KVRequest{Key: "k", Value: make([]byte, 512<<10)}).Append(nil))
	return attacked{services: kv.Services(), ask: []guesttest.Step{put.Times(endless)}}
}

// fetching opens the capability to fetch from a hostile origin, and asks for the whole of an answer.
func fetching(t *testing.T, o *rawServer, requests uint32) attacked {
	t.Helper()
	h, err := httpcap.Open(httpcap.Config{Rules: []httpcap.Rule{{Scheme: "http", Host: "127.0.0.1", Ports: []uint16{o.port}, Private: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIt(t, h) })
	get := (&abi.HTTPRequest{URL: fmt.Sprintf("http://127.0.0.1:%d/", o.port)}).Append(nil)
	return attacked{services: h.Services(), ask: []guesttest.Step{
		guesttest.Ask(abi.ServiceHTTP, get).Times(requests),
		guesttest.Ask(abi.ServiceStream, (&abi.StreamRequest{Stream: 1}).Append(nil)).Times(100),
	}}
}

func web(says string, answers bool) func(*testing.T, *backends) attacked {
	return func(t *testing.T, _ *backends) attacked {
		a := fetching(t, newRawServer(t, says, "", 0, false), 1)
		a.answers = answers
		return a
	}
}

func webFlood(head, text string, pause time.Duration) func(*testing.T, *backends) attacked {
	return func(t *testing.T, _ *backends) attacked {
		return fetching(t, newRawServer(t, head, text, pause, false), 1)
	}
}

func webClose(t *testing.T, _ *backends) attacked {
	a := fetching(t, newRawServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf", "", 0, true), 1)
	a.answers = true
	return a
}

func webBomb(t *testing.T, _ *backends) attacked {
	body := compressed(make([]byte, 64<<20))
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", len(body))
	return fetching(t, newRawServer(t, head+string(body), "", 0, true), endless)
}
