package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/guesttest"
	recorded "github.com/wasmres/wasmres/internal/session"
)

func TestCutLast(t *testing.T) {
	rows := func(last string) [][]string {
		return [][]string{{"URI", "DESCRIPTION"}, {"x:a", "short"}, {"x:bcdef", last}}
	}
	const long = "A description of more than thirty characters."
	for name, tt := range map[string]struct {
		width int
		want  string
	}{
		"no terminal":    {0, long},
		"wide":           {80, long},
		"narrow":         {39, "A description of more than th…"},
		"far too narrow": {5, "A description of mo…"},
	} {
		t.Run(name, func(t *testing.T) {
			got := rows(long)
			cutLast(got, tt.width)
			if diff := cmp.Diff(rows(tt.want), got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	const everybody = "http://127.0.0.1:8080/mcp and every other address of this machine"
	for ip, want := range map[string]string{
		"127.0.0.1": "http://127.0.0.1:8080/mcp", "::1": "http://[::1]:8080/mcp", "0.0.0.0": everybody, "::": everybody,
	} {
		if got := endpoint(&net.TCPAddr{IP: net.ParseIP(ip), Port: 8080}); got != want {
			t.Errorf("%s: got %s, want %s", ip, got, want)
		}
	}
}

// TestAnAddressInUse says what to do about it.
func TestAnAddressInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	addr := listener.Addr().String()
	_, said := say(t, exitFailed, "run", "--cache-dir", guesttest.CacheDir(t), "--isolation", "in-process", "--http", addr, guesttest.File(t, "hello"))
	want := "wasmres: another program listens at " + addr + ": end it, or serve elsewhere, as with --http 127.0.0.1:0 ("
	if !strings.Contains(said, want) {
		t.Errorf("got %s\nwant %s", said, want)
	}
}

func TestPlainLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(plainLog(&out, slog.LevelInfo))
	log.Debug("hidden")
	log.Warn("guest log", "op", "read", "stream", "stderr", "text", "red \x1b[31m\u202e\nwasmres: forged")
	log.Warn("guest log dropped", "code", "log_limit", "limit", 64)
	log.With("a", 1).WithGroup("g").With("b", 2).Info("request failed", "uri", "", "err", errors.New(`no "x"`))
	want := `guest: red \x1b[31m\u202e\nwasmres: forged` + "\n" +
		"WARN guest log dropped code=log_limit limit=64\n" +
		`INFO request failed a=1 g.b=2 g.err="no \"x\""` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestGuestTextSteersNoTerminal shows a person the same text in each way there is: what turns the direction of writing
// is escaped.
func TestGuestTextSteersNoTerminal(t *testing.T) {
	const said = "a\u202eb\u2066c\u200fd\u061ce\x1bf"
	log := func(handler logHandler) func(io.Writer) {
		return func(w io.Writer) {
			l := slog.New(handler(w, slog.LevelInfo))
			l.Info(guestRecord, "op", "read", "stream", "stderr", "text", said)
			l.With("provider", said).Error("request failed", "err", errors.New(said))
		}
	}
	for name, show := range map[string]func(io.Writer){
		"plain log": log(plainLog),
		"text log":  log(textLog),
		"dev log":   func(w io.Writer) { log(newConsole(w).log)(w) },
		"table":     func(w io.Writer) { _ = printTable(w, []string{"NAME", "ABOUT"}, [][]string{{said, said}}) },
		"error":     func(w io.Writer) { fmt.Fprintln(w, oneLine(errors.New(said))) },
		"request":   func(w io.Writer) { newConsole(w).request(app.Request{Op: "read", URI: said, Err: errors.New(said)}) },
		"sheet":     func(w io.Writer) { newSheet(w).row("about", "%s", said) },
		"test": func(w io.Writer) {
			printTest(w, testResult{Report: recorded.Report{Failures: []recorded.Failure{{Step: said, Problem: said, Diff: said}}}})
		},
		"check": func(w io.Writer) {
			f := check.Finding{Rule: check.Rules()[0].Name, Where: said, Problem: said}
			_ = printReport(w, formatTable, &check.Report{Findings: []check.Finding{f}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			show(&out)
			if got := out.String(); strings.ContainsAny(got, "\u202e\u2066\u200f\u061c\x1b") || !strings.Contains(got, `a\u202eb`) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTextLogHasNothingEmpty(t *testing.T) {
	var out bytes.Buffer
	slog.New(textLog(&out, slog.LevelInfo)).Info("request failed", "uri", "", "code", "denied")
	if got, want := out.String(), "level=INFO msg=\"request failed\" code=denied\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want … %s", got, want)
	}
}
