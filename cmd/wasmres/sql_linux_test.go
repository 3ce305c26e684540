package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", which makes the database

	"github.com/wasmres/wasmres/internal/guesttest"
)

// A signal ends the program while SQLite is in the middle of what nothing interrupts, and no helper process is left.
func TestASignalEndsAStatement(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the time that requests have after a signal")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const endless = "instr(replace(hex(zeroblob(900000)), '0', 'a'), replace(hex(zeroblob(450000)), '0', 'a') || 'b')"
	if _, err := db.Exec("create view users as select 1 as id, " + endless + " as name, '' as email, '' as joined"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("wasmres", "run", "--cache-dir", guesttest.CacheDir(t), "--timeout", "10m", "--sql", "main=sqlite:"+file, guesttest.File(t, "users"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"db://users/1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if _, err := io.WriteString(in, read+"\n"); err != nil {
		t.Fatal(err)
	}
	helper := awaitHelper(t, cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Logf("it ends with %v: %s", err, said.String())
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-ended
		t.Fatalf("it does not end:\n%s", said.String())
	}
	if _, err := os.Stat(filepath.Join("/proc", helper)); err == nil {
		t.Error("the helper process is still there")
	}
}

// awaitHelper returns the number of the SQLite helper of a process once there is one.
func awaitHelper(t *testing.T, parent int) string {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if name, _ := os.ReadFile(file); string(name) != "wasmres-sqlite\x00" {
				continue
			}
			dir := filepath.Dir(file)
			if text, _ := os.ReadFile(filepath.Join(dir, "status")); childOf(string(text), parent) {
				return filepath.Base(dir)
			}
		}
	}
	t.Fatal("there is no helper process")
	return ""
}

// childOf reports whether the status of a process names its parent.
func childOf(status string, parent int) bool {
	return strings.Contains(status, fmt.Sprintf("\nPPid:\t%d\n", parent))
}
