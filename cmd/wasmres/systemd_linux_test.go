package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/sourcetree"
)

// manage is run by sh in namespaces of its own: for a folder, a program and a unit file, it runs the unit under a service manager, and
// says what that sees. The manager runs for a user, as one for the system would need to be the first process of the machine: what of
// the unit keeps the server from the system is left out.
const manage = `
dir=$1 program=$2 unit=$3
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/systemd/user || { echo "no manager"; exit; }
export XDG_RUNTIME_DIR=/run/user HOME=$dir XDG_STATE_HOME=$dir/state XDG_CACHE_HOME=$dir/cache XDG_CONFIG_HOME=$dir/config
sed -e "s,/usr/local/bin/wasmres,$program,; s,/etc/wasmres,$dir,; s,/var/lib/wasmres/data,$dir/data,; s,/var/cache/wasmres,$dir/cache,; s,/var/lib/wasmres,$dir," \
  -e "s,WatchdogSec=30s,WatchdogSec=3s,; /^DynamicUser/d; /^# What the server itself does not need/,/^\[Install\]/d; /^WantedBy/d" "$unit" >/run/user/systemd/user/wasmres.service
manager=$(command -v systemd || echo /usr/lib/systemd/systemd)
"$manager" --user >/dev/null 2>&1 &
manager=$!
for i in $(seq 100); do systemctl --user show -p Version >/dev/null 2>&1 && break; sleep 0.1; done
systemctl --user show -p Version >/dev/null 2>&1 || { echo "no manager"; exit; }
value() { systemctl --user show wasmres.service -p "$1" --value; }
say() { echo "$1: $2, $(value ActiveState), $(value StatusText)"; }
restarted() { # whether another process than $1 is ready within a minute
  for i in $(seq 600); do
    now=$(value MainPID)
    [ "$now" != 0 ] && [ "$now" != "$1" ] && [ "$(value ActiveState)" = active ] && return
    sleep 0.1
  done
}
systemctl --user start wasmres.service; say start $?
echo "roles: {}" >"$dir/tenants/beta.yaml"
systemctl --user reload wasmres.service 2>/dev/null; say reload $?
echo "provider: {}" >"$dir/tenants/gamma.yaml"
systemctl --user reload wasmres.service 2>/dev/null; say wrong $?
main=$(value MainPID); kill -9 "$main"; restarted "$main"; say killed $?
main=$(value MainPID); kill -STOP "$main"; restarted "$main"; say hung $?
systemctl --user stop wasmres.service; say stop $?
kill $manager; wait $manager
`

// The unit of docs/deploy runs under systemd: it is ready when it serves, a reload fails if a file is wrong, a server that was killed or
// hangs is started again, and it stops.
func TestTheUnitRunsUnderSystemd(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the watchdog")
	}
	t.Parallel() // most of it is waiting
	program, err := exec.LookPath("wasmres")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("systemctl"); err != nil || os.Getuid() != 0 {
		t.Skip("it needs systemd, and root, who may make namespaces")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n", "tenants/acme.yaml": "roles: {}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unit := filepath.Join(sourcetree.Root(), "docs", "deploy", "wasmres.service")
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", manage, "sh", dir, program, unit)
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if said := string(out); strings.Contains(said, "no manager") || strings.Contains(said, "unshare:") {
		t.Skipf("no service manager can be started here: %s", said)
	}
	if err != nil {
		t.Logf("the manager ends with %v", err)
	}
	for _, want := range []string{
		`start: 0, active, serving 1 tenant, 0 with problems`, `reload: 0, active, serving 2 tenants, 0 with problems`,
		`wrong: 1, active, serving 2 tenants, 1 with problems`, `killed: 0, active, serving 2 tenants, 1 with problems`,
		`hung: 0, active, serving 2 tenants, 1 with problems`, `stop: 0, inactive, `,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).Match(out) {
			t.Errorf("%s is not in what the manager sees:\n%s", want, out)
		}
	}
}
