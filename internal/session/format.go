package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Format returns the text of a session. Parse and Format of that text give the same text.
func (s *Session) Format() []byte {
	b := []byte(s.Comment)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	if !s.Time.IsZero() {
		b = appendMarker(b, "time "+s.Time.UTC().Format(time.RFC3339Nano))
	}
	if s.Seed != 0 {
		b = appendMarker(b, "seed "+strconv.FormatUint(s.Seed, 10))
	}
	if v := limitsValue(&s.Limits); v != nil {
		b = append(appendMarker(b, "limits"), v.append(nil, "")...)
		b = append(b, '\n')
	}
	if v := s.Grants.value(); v != nil {
		b = append(appendMarker(b, "grants"), v.append(nil, "")...)
		b = append(b, '\n')
	}
	b = appendExchanges(b, s.Host)
	for _, step := range s.Steps {
		b = appendMarker(b, step.Request.String())
		if step.Crash != nil {
			b = append(b, step.Crash.String()...)
		}
		if step.Want != nil {
			b = append(b, step.Want.String()...)
		}
		b = appendExchanges(b, step.Host)
	}
	return b
}

func appendMarker(b []byte, name string) []byte {
	return append(append(append(b, "-- "...), name...), " --\n"...)
}

func appendExchanges(b []byte, exchanges []Exchange) []byte {
	for i := range exchanges {
		b = appendMarker(b, "host "+exchanges[i].Question())
		b = append(b, exchanges[i].String()...)
	}
	return b
}

// value returns the grants as they stand in files; nil for none.
func (g *Grants) value() *value {
	if len(g.Config) == 0 && len(g.Capabilities) == 0 && len(g.Services) == 0 {
		return nil
	}
	text, err := json.Marshal(struct {
		Config       map[string]string `json:"config,omitempty"`
		Capabilities []string          `json:"capabilities,omitempty"`
		Services     []string          `json:"services,omitempty"`
	}{g.Config, g.Capabilities, g.Services})
	if err != nil {
		return nil // does not happen: strings can be encoded
	}
	v, err := parseValue(text)
	if err != nil {
		return nil // does not happen: json.Marshal has made the text
	}
	return v
}

// Save replaces a file by the session, atomically, and makes its directory. It does not write an unchanged file.
func (s *Session) Save(file string) error {
	text := s.Format()
	if len(text) > MaxSize {
		return fmt.Errorf("save session %s: %d bytes exceed the limit of %d: record fewer steps or smaller resources",
			file, len(text), MaxSize)
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if old, err := os.ReadFile(file); err == nil && string(old) == string(text) {
		return nil
	}
	draft := filepath.Join(dir, "."+filepath.Base(file)+".draft")
	_ = os.Remove(draft) // in an untrusted directory it may be a link to another file
	err := writeNew(draft, text)
	if err == nil {
		err = os.Rename(draft, file)
	}
	if err != nil {
		_ = os.Remove(draft)
	}
	return err
}

// writeNew writes a file that must not exist.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
