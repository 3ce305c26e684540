package admin_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/admin/admintest"
)

// Another user is refused, even if the permissions of the socket let it in.
func TestOtherUsersAreRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	socket := admintest.New(t, acme()).ServeBare(t)
	open := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}
	open(socket, 0o666)
	for dir := filepath.Dir(socket); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		open(dir, 0o755)
	}
	out := asOtherUser(t, socket, "GET /v1/node HTTP/1.0\r\n\r\n")
	if !strings.Contains(out, "403 Forbidden") || !strings.Contains(out, `"code":"forbidden"`) || strings.Contains(out, "v1.2.3") {
		t.Errorf("got %s", out)
	}
}

const userEnv = "ADMIN_TEST_USER"

func TestMain(m *testing.M) {
	if socket := os.Getenv(userEnv); socket != "" {
		ask(socket)
	}
	os.Exit(m.Run())
}

// ask sends standard input to a socket, and prints the answer.
func ask(socket string) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(0)
	}
	_, _ = io.Copy(c, os.Stdin)
	_, _ = io.Copy(os.Stdout, c)
	os.Exit(0)
}

// asOtherUser sends a text to a socket as another user, and returns the answer.
func asOtherUser(t *testing.T, socket, text string) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe") // which the other user could not find by its path
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_, _ = io.WriteString(out, text)
	out.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.ExtraFiles, cmd.Stdin, cmd.Env = []*os.File{self}, in, append(os.Environ(), userEnv+"="+socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	answer, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return string(answer)
}
