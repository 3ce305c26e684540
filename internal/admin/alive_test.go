package admin_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
)

// A server answers unless it is not there, or says nothing.
func TestAnswers(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "silent.sock")
	l, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, socket string
		within       time.Duration
		want         bool
	}{
		{"a server", admintest.New(t).Serve(t), time.Minute, true},
		{"a server that says nothing", silent, 10 * time.Millisecond, false},
		{"no server", filepath.Join(t.TempDir(), "none.sock"), time.Minute, false},
	} {
		client := admin.NewClient(c.socket)
		if got := client.Answers(t.Context(), c.within); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
		client.Close()
	}
}
