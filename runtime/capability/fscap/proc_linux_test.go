package fscap_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
)

func mounted(t *testing.T, host string) capability.Services {
	t.Helper()
	files, err := fscap.Open([]fscap.Grant{{Host: host, Guest: "/proc"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return files.Services()
}

// The kernel says that files of procfs have no bytes.
func TestAFileOfUnknownSizeIsReadToItsEnd(t *testing.T) {
	s := mounted(t, "/proc")
	want, err := os.ReadFile("/proc/version")
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []uint64{0, 1 << 10, 1 << 30, 1 << 63} {
		_, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/version", Length: length})
		if body != string(want) || err != nil {
			t.Errorf("length %d: got %q, %v, want %q", length, body, err, want)
		}
	}
	var parts strings.Builder
	for {
		offset := uint64(parts.Len())
		_, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/version", Offset: offset, Length: 10})
		if err != nil || len(body) > 10 {
			t.Fatalf("offset %d: got %q, %v", offset, body, err)
		}
		if body == "" {
			break
		}
		parts.WriteString(body)
	}
	if parts.String() != string(want) {
		t.Errorf("in parts: got %q, want %q", parts.String(), want)
	}
	_, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/version", Offset: 1 << 63, Length: 1})
	if body != "" || err != nil {
		t.Errorf("beyond the end: got %q, %v", body, err)
	}
	if _, body, err = call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/kallsyms"}); len(body) > 1<<20 || err != nil {
		t.Errorf("a large file: got %d bytes, %v", len(body), err)
	}
}

// A grant of /proc is none of the memory and the variables of every process of this user.
func TestAGrantOfProcfsHasNoProcesses(t *testing.T) {
	t.Setenv("SECRET", "hunter2")
	own := fmt.Sprint(os.Getpid())
	s := mounted(t, "/proc")
	for _, name := range []string{
		own + "/environ", "self/environ", "thread-self/environ", own + "/mem", own + "/task/" + own + "/environ", own + "/cmdline",
	} {
		for _, id := range []abi.Service{abi.ServiceFileRead, abi.ServiceFileStat} {
			_, body, err := call(t, s, id, abi.FileRequest{Path: "/proc/" + name, Length: 100})
			if body != "" || abi.CodeOf(err) != abi.CodeNotFound {
				t.Errorf("%s: got %q, %v, want not found", name, body, err)
			}
		}
	}
	_, body, err := call(t, s, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/net/dev"})
	if body == "" || err != nil {
		t.Errorf("net/dev: got %q, %v", body, err)
	}
	one := mounted(t, "/proc/"+own)
	if _, body, err := call(t, one, abi.ServiceFileRead, abi.FileRequest{Path: "/proc/cmdline"}); body == "" || err != nil {
		t.Errorf("a grant of one process: got %q, %v", body, err)
	}
}
