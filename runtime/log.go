package runtime

import (
	"context"
	"log/slog"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// maxLine bounds one log record's text, in bytes.
const maxLine = 1 << 10

func levelOf(level uint32) slog.Level {
	switch level {
	case abi.LogDebug:
		return slog.LevelDebug
	case abi.LogInfo:
		return slog.LevelInfo
	case abi.LogWarn:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// Output implements the host side of standard output and error: they are log lines, never the host's own output.
func (s *sandbox) Output(fd uint32, p []byte) {
	if fd == 1 {
		s.call.log(context.Background(), slog.LevelInfo, "stdout", p)
		return
	}
	s.call.log(context.Background(), slog.LevelWarn, "stderr", p)
}

// log writes what a guest says to the host's log, within the call's budget.
func (c *call) log(ctx context.Context, level slog.Level, stream string, p []byte) {
	budget := c.module.cfg.Limits.Log
	if c.logged > budget {
		return
	}
	c.logged += len(p)
	if c.logged > budget {
		c.module.cfg.Logger.WarnContext(ctx, "guest log dropped", "code", abi.CodeLogLimit.String(), "limit", budget)
		return
	}
	for line := range strings.Lines(string(p)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		line = strings.ToValidUTF8(line[:min(len(line), maxLine)], "\uFFFD")
		c.module.cfg.Logger.Log(ctx, level, "guest log", "op", c.op.String(), "stream", stream, "text", line)
	}
}
