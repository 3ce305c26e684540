package guestlog_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guestlog"
)

func open(t *testing.T, dir string, most int64) *guestlog.Book {
	t.Helper()
	b, err := guestlog.Open(guestlog.Config{Dir: dir, MaxFile: func(string) int64 { return most }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func line(text string) guestlog.Line {
	return guestlog.Line{Time: time.Date(2026, 11, 24, 2, 31, 7, 113e6, time.UTC), Provider: "notes", Text: text}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tenants", "acme", "log", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What guests log comes to readers and to the file of their tenant, in its order, and steers no terminal.
func TestLinesComeToReadersAndFiles(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, 0)
	log := slog.New(b.Handler(slog.DiscardHandler, "acme", "notes")).With("tenant", "acme")
	other := b.Reader("other")
	follower := b.Reader("acme")
	log.Info("guest log", "op", "read", "stream", "log", "text", "first\x1b[2J")
	log.Debug("guest log", "text", "not at info")
	log.Warn("worker not started", "text", "of the server")
	log.Error("guest log", "text", "second\nline")
	lines, missed := follower.Read()
	if len(lines) != 2 || missed != 0 || lines[0].Provider != "notes" || lines[1].Level != slog.LevelError || strings.ContainsAny(lines[0].Text+lines[1].Text, "\x1b\n") {
		t.Errorf("got %q, %d", lines, missed)
	}
	if lines, _ := other.Read(); len(lines) > 0 {
		t.Errorf("a tenant sees the lines of another: %q", lines)
	}
	woken := make(chan error, 1)
	go func() { woken <- follower.Wait(t.Context()) }()
	b.Add("acme", line("third"))
	if err := <-woken; err != nil {
		t.Fatal(err)
	}
	if lines, _ := follower.Read(); len(lines) != 1 || string(lines[0].Append(nil)) != "2026-11-24T02:31:07.113Z INFO notes: third\n" {
		t.Errorf("got %q", lines)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if follower.Wait(ended) == nil {
		t.Error("Wait did not end with its context")
	}
	go func() { woken <- follower.Wait(t.Context()) }()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if <-woken == nil {
		t.Error("Wait did not end with the book")
	}
	if text := read(t, dir, "guests.log"); strings.Count(text, "\n") != 3 || strings.Index(text, "first") > strings.Index(text, "third") || strings.Contains(text, "\x1b") {
		t.Errorf("got %q", text)
	}
}

// Lines in memory and files are bounded, and a reader that is too slow is told what it has missed.
func TestLinesAreBounded(t *testing.T) {
	dir := t.TempDir()
	const most = 100_000
	for range 5 {
		added := make(chan struct{}) // until then, the disk is slow
		b, err := guestlog.Open(guestlog.Config{Dir: dir, MaxFile: func(string) int64 { <-added; return most }})
		if err != nil {
			t.Fatal(err)
		}
		slow := b.Reader("acme")
		for i := range 2000 {
			b.Add("acme", line(fmt.Sprintf("%d %s", i, strings.Repeat("x", 300))))
		}
		close(added)
		lines, missed := slow.Read()
		size := 0
		for i := range lines {
			size += len(lines[i].Text)
		}
		if missed == 0 || missed+uint64(len(lines)) != 2000 || size > guestlog.RingBytes || !strings.HasPrefix(lines[len(lines)-1].Text, "1999 ") {
			t.Errorf("got %d lines of %d bytes, missed %d", len(lines), size, missed)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	newest, older := read(t, dir, "guests.log"), read(t, dir, "guests.log.1")
	if len(newest)+len(older) > most || len(newest) == 0 || !strings.Contains(newest, "lines were dropped") {
		t.Errorf("got %d and %d bytes", len(newest), len(older))
	}
}

// A disk that refuses delays nothing, and a link in place of the file is not followed.
func TestAFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "tenants", "acme", "log")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "target")
	if err := os.Symlink(target, filepath.Join(folder, "guests.log")); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir, 0)
	b.Add("acme", line("text"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("the link was followed")
	}
}
