package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestPlainLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(plainLog(&out, slog.LevelInfo))
	log.Debug("hidden")
	log.Warn("guest log", "op", "read", "stream", "stderr", "text", "red \x1b[31m\nwasmres: forged")
	log.Warn("guest log dropped", "code", "log_limit", "limit", 64)
	log.With("a", 1).WithGroup("g").With("b", 2).Info("request failed", "uri", "", "err", errors.New(`no "x"`))
	want := "guest: red \uFFFD[31m\uFFFDwasmres: forged\n" +
		"WARN guest log dropped code=log_limit limit=64\n" +
		`INFO request failed a=1 g.b=2 g.err="no \"x\""` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTextLogHasNothingEmpty(t *testing.T) {
	var out bytes.Buffer
	slog.New(textLog(&out, slog.LevelInfo)).Info("request failed", "uri", "", "code", "denied")
	if got, want := out.String(), "level=INFO msg=\"request failed\" code=denied\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want … %s", got, want)
	}
}
