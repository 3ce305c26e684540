package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/runtime"
)

// What the section limits contains. The limits are those that guests can notice.
type limitsFile struct {
	Memory    uint64 `json:"memory,omitempty"`
	Fuel      uint64 `json:"fuel,omitempty"`
	Timeout   string `json:"timeout,omitempty"`
	Stack     uint32 `json:"stack,omitempty"`
	Table     uint32 `json:"table,omitempty"`
	Output    uint64 `json:"output,omitempty"`
	Items     int    `json:"items,omitempty"`
	Log       int    `json:"log,omitempty"`
	LogLines  int    `json:"logLines,omitempty"`
	HostCalls int    `json:"hostCalls,omitempty"`
}

// maxTimeout bounds the timeout of a file, so that no file keeps a machine busy for long.
const maxTimeout = 10 * time.Minute

// limitsValue returns limits as they stand in files; nil for none.
func limitsValue(l *runtime.Limits) *value {
	if *l == (runtime.Limits{}) {
		return nil
	}
	f := limitsFile{
		Memory: l.Memory, Fuel: l.Fuel, Stack: l.Stack, Table: l.Table, Output: l.Output, Items: l.Items, Log: l.Log, LogLines: l.LogLines,
		HostCalls: l.HostCalls,
	}
	if l.Timeout != 0 {
		f.Timeout = l.Timeout.String()
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil // does not happen: numbers and texts can be encoded
	}
	v, err := parseValue(text)
	if err != nil {
		return nil // does not happen: json.Marshal has made the text
	}
	return v
}

func (p *parser) addLimits(s *section) error {
	if len(s.words) > 1 {
		return errors.New("section limits: write the limits as JSON on the lines below")
	}
	v, err := parseValue(s.body)
	if err != nil {
		return err
	}
	var f limitsFile
	if err := decodeStrict(v.append(nil, ""), &f); err != nil {
		return fmt.Errorf(`section limits: write it as {"memory": 67108864, "timeout": "2s"}: %w`, err)
	}
	l := runtime.Limits{
		Memory: f.Memory, Fuel: f.Fuel, Stack: f.Stack, Table: f.Table, Output: f.Output, Items: f.Items, Log: f.Log, LogLines: f.LogLines,
		HostCalls: f.HostCalls,
	}
	if f.Timeout != "" {
		if l.Timeout, err = time.ParseDuration(f.Timeout); err != nil || l.Timeout <= 0 || l.Timeout > maxTimeout {
			return fmt.Errorf("section limits: write a timeout of at most %v, as 2s", maxTimeout)
		}
	}
	if _, err := l.WithDefaults(); err != nil {
		return fmt.Errorf("section limits: %w", err)
	}
	p.session.Limits = l
	return nil
}
