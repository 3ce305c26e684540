package guest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

const (
	maxLine  = 1 << 10 // bytes of one log record's text
	lineCost = 64      // bytes of the budget for a line beside its text: roughly what the log adds
)

// LevelOf converts a log level of the ABI.
func LevelOf(level uint32) slog.Level {
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

// guestLog is the message of log records with text from guests.
const guestLog = "guest log"

// streams has the names and log levels of a guest's output streams.
var streams = [2]struct {
	name  string
	level slog.Level
}{{"stdout", slog.LevelInfo}, {"stderr", slog.LevelWarn}}

// Output receives text that the guest writes to standard output (0) or error (1), and logs complete lines.
func (c *Call) Output(ctx context.Context, stream int, p []byte) {
	if !c.spendText(p, 0) {
		return
	}
	text := append(c.partial[stream], p...)
	end := bytes.LastIndexByte(text, '\n') + 1
	if len(text)-end > maxLine {
		end = len(text)
	}
	c.write(ctx, streams[stream].level, streams[stream].name, text[:end])
	c.partial[stream] = append(text[:0], text[end:]...)
}

// FlushOutput logs the last lines, even without a line end.
func (c *Call) FlushOutput(ctx context.Context) {
	for i, text := range c.partial {
		c.write(ctx, streams[i].level, streams[i].name, text)
		c.partial[i] = nil
	}
}

// Log logs a message of the guest.
func (c *Call) Log(ctx context.Context, level slog.Level, p []byte) {
	c.noteError(level, p)
	if c.spendText(p, 1) {
		c.write(ctx, level, "log", p)
	}
}

// Bounds of a runner's own lines beyond the guest's budget, as about discarded instances.
const (
	moreLog   = 4 << 10 // bytes
	moreLines = 16
)

// Record logs a line of the runner, from the guest or about it. The guest's budget and moreLog bound the lines.
func (c *Call) Record(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	l := &c.host.Limits
	c.recorded += len(message)
	for _, a := range attrs {
		c.recorded += len(a.Key) + len(a.Value.String())
	}
	if c.records++; c.records > l.LogLines+moreLines || c.recorded > l.Log+moreLog {
		return
	}
	if text := len(attrs) - 1; message == guestLog && text >= 0 {
		c.keepLine(attrs[text].Value.String())
	}
	c.host.Logger.LogAttrs(ctx, level, message, attrs...)
}

// Trace calls run with a call in which the guest, which has been stopped, may only log where it was. These lines are c's, and
// within what remains of its budget and the bounds of a runner's own lines.
func (c *Call) Trace(run func(*Call)) {
	l := &c.host.Limits
	t := c.host.NewLogOnlyCall(c.Op)
	t.logged, t.lines = max(0, min(c.logged, l.Log-moreLog)), max(0, min(c.lines, l.LogLines-moreLines))
	run(t)
	for _, line := range t.lastLines {
		c.keepLine(line)
	}
}

// spendText is spend for p, which counts as many lines as it has line ends, and so many more. It does not read text
// beyond the budget.
func (c *Call) spendText(p []byte, lines int) bool {
	if len(p) <= c.host.Limits.Log-c.logged {
		lines += bytes.Count(p, []byte{'\n'})
	}
	return c.spend(len(p), lines)
}

// spend subtracts text of n bytes in so many lines from the call's log budget, and logs once that the budget is used
// up.
func (c *Call) spend(n, lines int) bool {
	l := &c.host.Limits
	if c.logged > l.Log || c.lines > l.LogLines {
		return false
	}
	c.logged += n + lineCost*lines
	c.lines += lines
	if c.logged <= l.Log && c.lines <= l.LogLines {
		return true
	}
	c.host.Logger.Warn("guest log dropped", "code", abi.CodeLogLimit.String(), "bytes", l.Log, "lines", l.LogLines)
	return false
}

// maxRepeated is how many equal indented lines in a row are logged. A stack of a recursion has hundreds.
const maxRepeated = 3

// write logs text line by line. Of equal indented lines in a row it logs maxRepeated, and how many more there are.
func (c *Call) write(ctx context.Context, level slog.Level, stream string, text []byte) {
	log := func(line string) {
		c.keepLine(line)
		c.host.Logger.Log(ctx, level, guestLog, "op", c.Op.String(), "stream", stream, "text", line)
	}
	var last []byte
	repeated := 0 // how often last came again
	logRepeated := func() {
		if more := repeated + 1 - maxRepeated; more > 0 {
			log(fmt.Sprintf("  [Previous line repeated %d more times]", more))
		}
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		if line[0] == ' ' && bytes.Equal(line, last) {
			repeated++
		} else {
			logRepeated()
			last, repeated = line, 0
		}
		if repeated < maxRepeated {
			log(strings.ToValidUTF8(string(line[:min(len(line), maxLine)]), "\uFFFD"))
		}
	}
	logRepeated()
}
