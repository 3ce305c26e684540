package cli

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"
)

// Each line has the priority of its record, whatever the format, and loggers made of the log keep it.
func TestPriorities(t *testing.T) {
	for name, handler := range map[string]LogHandler{"text": TextLog, "json": JSONLog} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(WithPriorities(handler)(&out, slog.LevelDebug))
			log.Debug("d")
			log.With("key", "value").Info("i")
			log.WithGroup("group").Warn("w", "key", "value")
			log.Error("first\n<7>second")
			want := regexp.MustCompile(`\A<7>[^\n]*\n<6>[^\n]*key\S*value[^\n]*\n<4>[^\n]*group[^\n]*\n<3>[^\n]*first\\n[^\n]*\n\z`)
			if !want.MatchString(out.String()) {
				t.Errorf("got %s", &out)
			}
			out.Reset()
			slog.New(WithPriorities(handler)(&out, slog.LevelWarn)).Info("hidden")
			if out.Len() > 0 {
				t.Errorf("got %s", &out)
			}
		})
	}
}
