package cli

import (
	"os"
	"path/filepath"
	"runtime"
)

// StateDir returns the folder for what the program keeps for the user, as the data of providers and of servers: wasmres in
// $XDG_STATE_HOME or ~/.local/state. It is empty if the user has none.
func StateDir() string {
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "wasmres")
	}
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS == "linux" {
		return filepath.Join(home, ".local", "state", "wasmres")
	}
	if base, err := os.UserConfigDir(); err == nil {
		return filepath.Join(base, "wasmres", "state")
	}
	return ""
}
