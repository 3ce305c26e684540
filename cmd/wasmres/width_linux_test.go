package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ptytest"
	"github.com/wasmres/wasmres/internal/textwidth"
	"github.com/wasmres/wasmres/internal/usage"
)

// No line of a list or report is wider than the terminal, which would break it somewhere.
func TestListsFitTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many processes")
	}
	h := hosted(t)
	h.SetLoads(admin.Load{Tenant: "acme", PerSecond: 412.25, P99Micros: 2100, Live: 2, Providers: 4, Bytes: 11 << 20})
	h.Usage.Request("acme", usage.OK, 2048)
	m := h.Usage.Meter(usage.Key{Tenant: "acme", Provider: "notes", Version: 7}, func() usage.Processes {
		return usage.Processes{Starts: 1, Live: 2 * time.Second, Memory: 1 << 30, Peak: 3 << 20}
	})
	m.Call(usage.Failed, 81_204_511_020, 412*time.Second, 10)
	m.Close()
	o := operator{t, h.Serve(t)}
	o.run("key new acme --name ada --role reader --role editor --uri notes://** --network 192.0.2.0/24 --expires 30d", 0, `wr_`, `^Key`)
	for _, line := range []string{
		"top --once", "usage", "key list acme", "tenant list", "tenant show acme", "audit show", "plan list",
	} {
		t.Run(line, func(t *testing.T) {
			for _, columns := range []int{60, 80, 200} {
				checkWidth(t, columns, append(strings.Fields(line), "--socket", o.socket)...)
			}
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/plan.md", []byte("# A plan\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"list", "templates", "inspect"} {
		t.Run(command, func(t *testing.T) {
			for _, columns := range []int{60, 120} {
				checkWidth(t, columns, command, guesttest.File(t, "project"), "--dir", dir+":/project:ro", "--cache-dir", guesttest.CacheDir(t))
			}
		})
	}
	t.Run("version", func(t *testing.T) { checkWidth(t, 60, "version") })
}

// escape matches sequences that style text or move the cursor.
var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// checkWidth runs a command at a terminal of so many columns.
func checkWidth(t *testing.T, columns int, args ...string) {
	t.Helper()
	cmd := exec.Command("wasmres", args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "ACCESSIBLE=")
	term := ptytest.Start(t, cmd, columns, 50)
	if err := term.Wait(); err != nil {
		t.Errorf("%d columns: %v\n%s", columns, err, term.Output())
	}
	for line := range strings.Lines(term.Output()) {
		parts := strings.Split(escape.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""), "\r") // after each the line is drawn again
		for _, part := range parts {
			if got := textwidth.Of(part); got > columns && !hasLongWord(part, columns) {
				t.Errorf("%s: %d columns of %d: %q", strings.Join(args[:1], " "), got, columns, part)
			}
		}
	}
}

// hasLongWord reports whether a line has a digest, which may be copied and is therefore never cut.
func hasLongWord(line string, columns int) bool {
	words := strings.Fields(line)
	return len(words) == 2 && textwidth.Of(words[1]) > columns
}
