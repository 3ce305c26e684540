package project

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestVersionOfAssemblyScript(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a script of sh")
	}
	const asc = "#!/bin/sh\necho Version 2.0.0\n"
	for name, tt := range map[string]struct{ about, want string }{
		"package":         {`{"name": "assemblyscript", "version": "1.0.0"}`, "1.0.0"},
		"another package": {`{"name": "other", "version": "1.0.0"}`, "2.0.0"},
		"no package":      {"", "2.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			real, link := filepath.Join(dir, "assemblyscript", "bin", "asc.js"), filepath.Join(dir, "asc")
			if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(real, []byte(asc), 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.about != "" {
				if err := os.WriteFile(filepath.Join(dir, "assemblyscript", "package.json"), []byte(tt.about), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(real, link); err != nil {
				t.Fatal(err)
			}
			if got := ascVersion(&builder{ctx: t.Context(), dir: dir}, link); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
