package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal/terminaltest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

func TestPlainLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(PlainLog(&out, slog.LevelInfo))
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

// Commands do not repeat the warning of the package process that a layer is missing, unless the user debugs.
func TestPlainLogOmitsMissingLayers(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(sourcetree.Root(), "runtime", "internal", "process", "namespaces.go"))
	if err != nil || !bytes.Contains(source, []byte("logger.Warn("+strconv.Quote(isolationRecord))) {
		t.Errorf("the package process does not log %q, %v", isolationRecord, err)
	}
	var info, debug bytes.Buffer
	for level, out := range map[slog.Level]*bytes.Buffer{slog.LevelInfo: &info, slog.LevelDebug: &debug} {
		slog.New(PlainLog(out, level)).Warn(isolationRecord)
	}
	if info.Len() > 0 || debug.Len() == 0 {
		t.Errorf("got %q, with --log-level debug %q", &info, &debug)
	}
}

func TestTextLogHasNothingEmpty(t *testing.T) {
	var out bytes.Buffer
	slog.New(TextLog(&out, slog.LevelInfo)).Info("request failed", "uri", "", "code", "denied")
	if got, want := out.String(), "level=INFO msg=\"request failed\" code=denied\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want … %s", got, want)
	}
}

// A program that reads the log has what was logged, whatever it is, and one object on each line.
func TestJSONLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(JSONLog(&out, slog.LevelInfo))
	const text = "a\u202e\x1b[31m\n\U000e0001\x7f <b>"
	log.Info("request failed", "uri", "", "err", errors.New(text), "took", 1500*time.Millisecond)
	log.Info("next")
	lines := strings.Split(out.String(), "\n")
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil || len(lines) != 3 {
		t.Fatalf("%v: %q", err, lines)
	}
	delete(got, "time")
	if diff := cmp.Diff(map[string]any{"level": "INFO", "msg": "request failed", "err": text, "took": "1.5s"}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestLogsEscapeText(t *testing.T) {
	for name, handler := range map[string]func(io.Writer, slog.Level) slog.Handler{"plain": PlainLog, "text": TextLog, "json": JSONLog} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(handler(&out, slog.LevelInfo))
			log.Info(GuestRecord, "op", "read", "stream", "stderr", "text", terminaltest.Hostile)
			log.With("provider", terminaltest.Hostile).Error("request failed", "err", errors.New(terminaltest.Hostile))
			terminaltest.CheckEscaped(t, out.String())
		})
	}
}

func TestOneLineEscapesText(t *testing.T) {
	terminaltest.CheckEscaped(t, OneLine(errors.New(terminaltest.Hostile)))
}
