package compiler

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// ready is the first line of a child. The child writes it before it reads any byte of the module.
const ready = "ready\n"

// An answer is the second and last line of a child.
type answer struct {
	// Failed is the kind of failure; empty for success.
	Failed failure `json:"failed,omitempty"`
	// Detail is for the log, at most maxDetail bytes.
	Detail string `json:"detail,omitempty"`
}

// A failure is one that the child reports itself.
type failure string

const (
	failedSetup   failure = "setup"   // independent of the module
	failedModule  failure = "module"  // the engine refuses the module
	failedMemory  failure = "memory"  // not enough memory
	failedOutput  failure = "output"  // more than maxOutput
	failedStorage failure = "storage" // the folder cannot be written to
)

const (
	maxDetail = 512
	// maxAnswer bounds what is read of a child's standard output.
	maxAnswer = len(ready) + maxDetail*6 + 128 // JSON may escape each byte as \u0000
)

// A stdout reads the standard output of a child: two lines. It calls end after them, or when a child writes more. It
// belongs to the goroutine that copies until the child was waited for, then to the goroutine that waited.
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
		return len(p), io.ErrShortWrite // stops the copying
	}
	return len(p), nil
}

func (s *stdout) isReady() bool { return strings.HasPrefix(string(s.text), ready) }

// answer parses the output. complete reports whether all of it has come. An error means that it can never become an
// answer.
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
