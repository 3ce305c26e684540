package guest

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// maxExposed bounds what a client gets of an ordinary error of a guest, in bytes.
const maxExposed = 200

// noteError keeps the first line of a message that the guest has logged, for exposed. The SDKs log an ordinary error of a
// handler before they answer abi.CodeInternal or trap. A message that begins with white space, or with "caused by",
// belongs to the one before: the stack and the causes of an error.
func (c *Call) noteError(level slog.Level, message []byte) {
	if !c.host.ExposeErrors || level < slog.LevelError || len(message) == 0 {
		return
	}
	if message[0] == ' ' || message[0] == '\t' || bytes.HasPrefix(message, []byte("caused by ")) {
		return
	}
	line, _, _ := bytes.Cut(message, []byte{'\n'})
	c.lastError = string(line[:min(len(line), maxExposed)])
}

// exposed returns err with the words of the guest's last error, when the operator wants that and err has none of its own:
// for a failure without a message, and for a trap, which is what throw is in some languages.
func (c *Call) exposed(err error) error {
	if err == nil || c.lastError == "" {
		return err
	}
	var e *abi.Error // it escapes: a call that succeeds does not come here
	if !errors.As(err, &e) {
		return err
	}
	said := strings.TrimPrefix(c.lastError, "Error: ") // what JavaScript calls any error
	switch crash := abi.CrashOf(err); {
	case e.Code == abi.CodeInternal && e.Message == "" && e.Cause == nil:
		return &abi.Error{Code: e.Code, Message: shortText(said), Data: e.Data, RetryAfter: e.RetryAfter}
	case e.Code == abi.CodeTrap && crash != nil:
		return &crashError{&abi.Error{Code: e.Code, Message: e.Message + ": " + shortText(said), Cause: e.Cause}, crash}
	}
	return err
}

// shortText is publicText of at most maxExposed bytes.
func shortText(s string) string {
	s = publicText(s)
	return strings.ToValidUTF8(s[:min(len(s), maxExposed)], "")
}
