package app

import (
	"log/slog"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
)

// What a policy says may be added to a folder is what the capability holds the provider to.
func TestAPolicyBoundsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	a := &App{cfg: Config{Logger: slog.New(slog.DiscardHandler), Grants: policy.Policy{Storage: []policy.Storage{
		{Host: dir, Guest: "/bytes", Access: policy.Write, MaxBytes: 10},
		{Host: dir, Guest: "/files", Access: policy.Write, MaxFiles: 1},
		{Host: dir, Guest: "/default", Access: policy.Write},
	}}}}
	files, err := a.openFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	for _, step := range []struct {
		path string
		size int
		want abi.Code
	}{
		{"/bytes/a", 10, 0}, {"/bytes/b", 1, abi.CodeTooLarge}, {"/bytes/c", 0, 0},
		{"/files/d", 1000, 0}, {"/files/e", 0, abi.CodeTooLarge},
		{"/default/f", 1000, 0}, {"/default/g", 1000, 0},
	} {
		request := (&abi.FileRequest{Path: step.path, Data: make([]byte, step.size)}).Append(nil)
		if _, err := files.Services()[abi.ServiceFileWrite].Call(t.Context(), request); abi.CodeOf(err) != step.want {
			t.Errorf("%s, %d bytes: got %v, want %v", step.path, step.size, err, step.want)
		}
	}
}
