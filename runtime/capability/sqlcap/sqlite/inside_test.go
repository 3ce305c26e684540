package sqlite_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/runtime/capability/sqlcap/sqlite"
	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// insideName is the name of the file of a helper that tries what it must not be able to do.
const insideName = rolePrefix + "tries"

// inside returns what a confined helper tries; nil for other helpers.
func inside() func(path string, layers confine.Layers) error {
	if program, err := os.Executable(); err != nil || filepath.Base(program) != insideName {
		return nil
	}
	return func(path string, layers confine.Layers) error {
		var errs []error
		parent, err := os.FindProcess(os.Getppid())
		if err != nil {
			return err
		}
		tries := map[string]func() error{
			"remove the database": func() error { return os.Remove(path) },
			"change the mode":     func() error { return os.Chmod(path, 0o777) },
			"make a directory":    func() error { return os.Mkdir(path+"-dir", 0o700) },
			"connect":             func() error { _, err := net.Dial("tcp", "127.0.0.1:9"); return err },
			"open a socket":       func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
			"start a program":     func() error { _, err := os.StartProcess("/proc/self/exe", []string{"x"}, &os.ProcAttr{}); return err },
			"signal the parent":   func() error { return parent.Signal(syscall.SIGTERM) },
		}
		if layers.On(confine.Landlock) {
			tries["read /etc/passwd"] = func() error { _, err := os.ReadFile("/etc/passwd"); return err }
			tries["read another database"] = func() error { _, err := os.ReadFile(filepath.Join(filepath.Dir(path), "other.db")); return err }
			tries["list the directory"] = func() error { _, err := os.ReadDir(filepath.Dir(path)); return err }
			tries["write the database"] = func() error { return os.Truncate(path, 0) }
			tries["make a file"] = func() error { return os.WriteFile(path+"-journal", nil, 0o600) }
		}
		for what, try := range tries {
			if err := try(); err == nil {
				errs = append(errs, fmt.Errorf("it can %s", what))
			}
		}
		return errors.Join(errs...)
	}
}

func TestAHelperIsConfined(t *testing.T) {
	if layers := confine.Probe(); !layers.On(confine.Seccomp) {
		t.Skipf("the machine has nothing to confine a process with: %v", layers)
	}
	file := makeFile(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "other.db"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, file)
	sqlite.StartAs(d, roleOf(t, t.TempDir(), strings.TrimPrefix(insideName, rolePrefix)))
	s, err := d.Connect(t.Context())
	if err != nil {
		t.Fatal(cause(err))
	}
	defer s.Close()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", sqlite.PID(s)))
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"Max address space", "Max open files"} {
		if _, rest, ok := strings.Cut(string(limits), limit); !ok || strings.HasPrefix(strings.TrimSpace(rest), "unlimited") {
			t.Errorf("no limit: %s", limit)
		}
	}
}
