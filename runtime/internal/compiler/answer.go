package compiler

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// ready is the first line of a child, before it has seen anything of the module.
const ready = "ready\n"

// An answer is the second line of a child. It is the last.
type answer struct {
	// Failed says what went wrong; empty for nothing.
	Failed failure `json:"failed,omitempty"`
	// Detail is for the log, at most maxDetail bytes.
	Detail string `json:"detail,omitempty"`
}

// A failure is what a child lived to tell.
type failure string

const (
	failedSetup   failure = "setup"   // nothing to do with the module
	failedModule  failure = "module"  // the engine does not accept it
	failedMemory  failure = "memory"  // not enough memory
	failedOutput  failure = "output"  // more than maxOutput
	failedStorage failure = "storage" // the folder cannot be written to
)

const (
	maxDetail = 512
	// maxAnswer bounds what is read of a child's standard output.
	maxAnswer = len(ready) + maxDetail*6 + 128 // JSON may escape each byte as \u0000
)

// A stdout hears a child out: two lines, then end is called. So it is when there is more than a child has to say. It
// belongs to the goroutine that copies until the child is waited for, then to who waited.
type stdout struct {
	end  context.CancelCauseFunc
	text []byte
}

// Write implements [io.Writer].
func (s *stdout) Write(p []byte) (int, error) {
	if len(s.text)+len(p) > maxAnswer {
		p = p[:maxAnswer-len(s.text)]
	}
	s.text = append(s.text, p...)
	if _, complete, err := s.answer(); complete || err != nil {
		s.end(cmp.Or(err, errAnswered))
		return len(p), io.ErrShortWrite // no more of it
	}
	return len(p), nil
}

func (s *stdout) isReady() bool { return strings.HasPrefix(string(s.text), ready) }

// answer returns what the child has said. It is an error when that can never become an answer.
func (s *stdout) answer() (a answer, complete bool, err error) {
	text := string(s.text)
	began := text[:min(len(text), len(ready))]
	if !strings.HasPrefix(ready, began) {
		return answer{}, false, fmt.Errorf("the child says %.32q, not that it is ready: does its main call compiler.Main?", text)
	}
	line, _, complete := strings.Cut(text[len(began):], "\n")
	switch {
	case !complete && len(text) >= maxAnswer:
		return answer{}, false, fmt.Errorf("the child says more than %d bytes", maxAnswer)
	case !complete:
		return answer{}, false, nil
	}
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return answer{}, false, fmt.Errorf("the child answers %.32q: %w", line, err)
	}
	a.Detail = strings.ToValidUTF8(a.Detail[:min(len(a.Detail), maxDetail)], "?")
	return a, true, nil
}
