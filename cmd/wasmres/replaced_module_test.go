package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/runtime"
)

// Between the moment a module is verified and the one it is inspected for its grants, its file may be replaced.
func TestAModuleThatWasReplacedAfterItsVerificationIsRefused(t *testing.T) {
	module, err := os.ReadFile("../../runtime/testdata/greeting.wasm")
	if err != nil {
		t.Fatal(err)
	}
	manifest := (&abi.Manifest{Name: "greeting", Version: "1"}).Append(nil)
	section := append([]byte{byte(len(abi.ManifestSection))}, abi.ManifestSection...)
	section = append(section, manifest...)
	module = append(append(module, 0, byte(len(section))), section...)
	info, err := runtime.Inspect(module)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "blob")
	if err := os.WriteFile(file, append(module, 0, 2, 1, 'x'), 0o600); err != nil { // with one more custom section
		t.Fatal(err)
	}
	cfg := app.Config{File: file, Digest: info.Digest, Isolation: runtime.IsolateNone, Logger: slog.New(slog.DiscardHandler)}
	for name, open := range map[string]func(*cli.Context, []app.Config) (*app.App, error){
		"to run": providers.OpenWithApproval, "to read": providers.OpenForReading,
	} {
		program := &cli.App{Writer: io.Discard, ErrWriter: io.Discard, Flags: []cli.Flag{providers.ApprovalsFlag()}, Action: func(c *cli.Context) error {
			a, err := open(c, []app.Config{cfg})
			if err == nil {
				_ = a.Close()
			}
			return err
		}}
		err := program.Run([]string{"wasmres", "--approvals", filepath.Join(t.TempDir(), "approvals")})
		if err == nil || !strings.Contains(err.Error(), info.Digest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
