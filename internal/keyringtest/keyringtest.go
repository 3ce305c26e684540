// Package keyringtest starts a real keyring for tests: gnome-keyring, on a D-Bus of its own, as Debian has them.
//
// All of it lives in a folder of its own, and ends with the process that started it, however that ends. Only tests
// import it.
package keyringtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrMissing is why a session did not start for which a program is not installed.
var ErrMissing = errors.New("not installed")

// Packages are those of Debian that have the programs.
const Packages = "dbus-bin, dbus-daemon, gnome-keyring and libsecret-tools"

// patience is how long a program may take.
const patience = 30 * time.Second

// A Session is what a person has who is logged in: a bus, and on it perhaps a keyring.
type Session struct {
	dir  string
	cmd  *exec.Cmd
	life io.Closer // all of it ends when this is closed
}

// Start starts a session with a keyring, which is unlocked and empty. Once it is locked, it stays locked.
// The error is [ErrMissing] where one of the programs is not installed.
func Start() (*Session, error) { return startKeyring(map[string]string{}) }

// StartAsking is Start for a session in which a person is asked for the password, and never answers.
func StartAsking() (*Session, error) {
	return startKeyring(map[string]string{"org.gnome.keyring.SystemPrompter": "sleep 3600"})
}

// keyring is a command that runs one.
const keyring = "printf password | gnome-keyring-daemon --foreground --unlock --components=secrets"

func startKeyring(services map[string]string) (*Session, error) {
	for _, program := range []string{"dbus-send", "gnome-keyring-daemon", "secret-tool"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s: %w", program, ErrMissing)
		}
	}
	services["org.freedesktop.secrets"] = keyring
	return start(services)
}

// StartBare starts a session without a keyring.
func StartBare() (*Session, error) { return start(nil) }

// Close ends the session and removes its folder.
func (s *Session) Close() error {
	_ = s.life.Close()
	_ = s.cmd.Wait() // it is ended by a signal
	return os.RemoveAll(s.dir)
}

// Environ is what programs have in their environment that belong to the session.
func (s *Session) Environ() []string { return environ(s.dir) }

func environ(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_RUNTIME_DIR=" + dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(dir, "bus"),
	}
}

// Store puts an entry into the keyring, as users do.
func (s *Session) Store(service, user, secret string) error {
	return s.run(secret, "secret-tool", "store", "--label=a test", "service", service, "username", user)
}

// Lock locks the keyring.
func (s *Session) Lock() error {
	return s.run("", "dbus-send", "--session", "--print-reply",
		"--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
		"org.freedesktop.Secret.Service.Lock", "array:objpath:/org/freedesktop/secrets/collection/login")
}

// run runs a program of the session to its end.
func (s *Session) run(input, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin = s.Environ(), strings.NewReader(input)
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// outlived runs a bus until standard input ends, as it does when the process with the other end ends, and then ends it with
// all that it has started.
const outlived = `dbus-daemon --config-file="$0" --nofork --nopidfile --nosyslog --print-address &
cat >/dev/null
kill -KILL 0`

// start starts a bus, which starts each service by a command when a client first asks for it.
func start(services map[string]string) (s *Session, err error) {
	if _, err := exec.LookPath("dbus-daemon"); err != nil {
		return nil, fmt.Errorf("dbus-daemon: %w", ErrMissing)
	}
	dir, err := os.MkdirTemp("", "wasmres-keyring-")
	if err != nil {
		return nil, err
	}
	config, err := configure(dir, services)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cmd := exec.Command("sh", "-c", outlived, config)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = environ(dir), dir, &syscall.SysProcAttr{Setpgid: true}
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s = &Session{dir: dir, cmd: cmd, life: life}
	late := time.AfterFunc(patience, func() { _ = life.Close() })
	defer late.Stop()
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil { // the address, when it is ready
		return nil, errors.Join(fmt.Errorf("dbus-daemon: it was not ready: %w", err), s.Close())
	}
	return s, nil
}

// configure writes down what a bus should be like, and gives the file.
func configure(dir string, services map[string]string) (file string, err error) {
	for name, command := range services {
		text := fmt.Sprintf("[D-BUS Service]\nName=%s\nExec=/bin/sh -c %q\n", name, command)
		if err := os.WriteFile(filepath.Join(dir, name+".service"), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	file = filepath.Join(dir, "bus.conf")
	return file, os.WriteFile(file, fmt.Appendf(nil, `<busconfig>
  <type>session</type>
  <listen>unix:path=%[1]s/bus</listen>
  <servicedir>%[1]s</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`, dir), 0o600)
}
