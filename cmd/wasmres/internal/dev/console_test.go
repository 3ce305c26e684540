package dev

import (
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	"github.com/wasmres/wasmres/internal/app"
)

// consoleSays returns what a console says, with the time of day taken out.
func consoleSays(coloured bool, say func(*console)) string {
	var b strings.Builder
	say(&console{coloured: coloured, w: &b})
	timeOfDay := regexp.MustCompile(`(?m)^(\x1b\[2m)?[0-9]{2}:[0-9]{2}:[0-9]{2}(\x1b\[0m)? `)
	return timeOfDay.ReplaceAllString(b.String(), "${1}TIME${2} ")
}

func TestConsoleSaysEachRequestInALine(t *testing.T) {
	lost := abi.Errorf(abi.CodeUnavailable, "the database is away").Because(errors.New("no route"))
	for name, tt := range map[string]struct {
		request app.Request
		want    string
	}{
		"an answer": {
			app.Request{Op: "read", URI: "a:1", Elapsed: 1234 * time.Microsecond, Fuel: 1234567},
			"TIME read      ok          1.2 ms    1,234,567 fuel  a:1\n",
		},
		"without the provider": {
			app.Request{Op: "templates", Elapsed: 7 * time.Microsecond},
			"TIME templates ok            7 µs                 -\n",
		},
		"the list is watched": {
			app.Request{Op: "watch", Elapsed: 123 * time.Millisecond},
			"TIME watch     ok          123 ms                 -  the list\n",
		},
		"a failure and its cause": {
			app.Request{Op: "read", URI: "a:1", Elapsed: 2500 * time.Millisecond, Fuel: 12, Err: lost},
			"TIME read      unavailable   2.50 s           12 fuel  a:1  the database is away: no route\n",
		},
		"a failure without words": {
			app.Request{Op: "read", URI: "a:1", Err: &abi.Error{Code: abi.CodeNotFound}},
			"TIME read      not_found     0 µs                 -  a:1\n",
		},
		"what steers terminals": {
			app.Request{Op: "read", URI: "a:\x1b[31m\n", Err: errors.New("b\x1b[0m\r\nc")},
			`TIME read      internal      0 µs                 -  a:\x1b[31m\n  b\x1b[0m\r\nc` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := consoleSays(false, func(o *console) { o.request(tt.request) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestConsoleInColour(t *testing.T) {
	got := consoleSays(true, func(o *console) {
		o.request(app.Request{Op: "read", URI: "a:1", Err: abi.Errorf(abi.CodeInternal, "lost")})
		log := slog.New(o.log(nil, slog.LevelInfo))
		log.Warn("guest log", "op", "read", "stream", "log", "text", "nearly")
	})
	want := "\x1b[2mTIME\x1b[0m \x1b[36mread     \x1b[0m \x1b[31minternal \x1b[0m     0 µs  " +
		"\x1b[2m               -\x1b[0m  a:1  \x1b[31mlost\x1b[0m\n" +
		"\x1b[2mTIME\x1b[0m \x1b[36mread     \x1b[0m \x1b[2mlog      \x1b[0m \x1b[33mnearly\x1b[0m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestConsoleIsALog(t *testing.T) {
	got := consoleSays(false, func(o *console) {
		log := slog.New(o.log(nil, slog.LevelInfo)).With("provider", "notes")
		log.Debug("worker started")
		log.Info("guest log", "op", "list", "stream", "stderr", "text", "red \x1b[31m\nbuild: forged")
		log.Warn("guest log dropped", "code", "log_limit")
		log.Warn("request failed", "method", "resources/read") // which Observe has told already
		log.WithGroup("g").Error("request failed", "error", "panic: x")
	})
	want := "TIME list      stderr    red \\x1b[31m\\nbuild: forged\n" +
		"TIME warn      guest log dropped provider=notes code=log_limit\n" +
		"TIME error     request failed provider=notes g.error=\"panic: x\"\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestConsoleShowsWhatCompilersSay(t *testing.T) {
	const said = "# example.com/notes\n./main.go:68:15: undefined: x\r\n" +
		"error[E0425]: cannot find value `x`\n  --> src/lib.rs:10:5\n" +
		"provider.c:3:1: warning: unused\n\x1b[31mERROR TS2322: no\nERROR TS2322: no\n"
	plain := (&console{}).compilerOutput(said)
	if want := strings.NewReplacer("\x1b", `\x1b`, "\r", "").Replace(said); plain != want {
		t.Errorf("got %q, want %q", plain, want)
	}
	coloured := (&console{coloured: true}).compilerOutput(said)
	want := "# example.com/notes\n\x1b[1m./main.go:68:15:\x1b[0m undefined: x\n" +
		"\x1b[31merror[E0425]:\x1b[0m cannot find value `x`\n\x1b[1m  --> src/lib.rs:10:5\x1b[0m\n" +
		"\x1b[1mprovider.c:3:1:\x1b[0m \x1b[33mwarning:\x1b[0m unused\n" +
		"\\x1b[31mERROR TS2322: no\n\x1b[31mERROR TS2322:\x1b[0m no\n"
	if diff := cmp.Diff(want, coloured); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	long := (&console{}).compilerOutput(strings.Repeat("x\n", maxCompilerLines+2))
	if !strings.HasSuffix(long, "x\n… and 2 more lines\n") {
		t.Errorf("a long text ends with %q", long[len(long)-40:])
	}
}

func TestConsoleEscapesText(t *testing.T) {
	for name, say := range map[string]func(*console){
		"request": func(o *console) {
			o.request(app.Request{Op: "read", URI: terminaltest.Hostile, Err: errors.New(terminaltest.Hostile)})
		},
		"log": func(o *console) {
			log := slog.New(o.log(nil, slog.LevelInfo))
			log.Info(cli.GuestRecord, "op", "read", "stream", "stderr", "text", terminaltest.Hostile)
			log.With("provider", terminaltest.Hostile).Error("request failed", "err", errors.New(terminaltest.Hostile))
		},
	} {
		t.Run(name, func(t *testing.T) { terminaltest.CheckEscaped(t, consoleSays(false, say)) })
	}
}
