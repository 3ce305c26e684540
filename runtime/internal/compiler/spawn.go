package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/process"
)

// Reasons for killing a child, as the cause of its context.
var (
	errAnswered = errors.New("the child has answered")
	errTimeout  = errors.New("the time for compiling is over")
)

const (
	// maxStderr bounds how many bytes of a child's standard error are kept.
	maxStderr = 8 << 10
	// maxProcs bounds the processors of a child.
	maxProcs = 4
)

// run starts a child and returns the outcome. ctx ends with Config.Timeout. The child and its process group have ended when it returns.
func (c *Compiler) run(ctx context.Context, d digest, scratch string, binary []byte) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &stdout{end: cancel}
	start := time.Now()
	child, err := c.start(scratch, binary, out)
	if err != nil {
		return outcome{}, fmt.Errorf("compiler: %w", err)
	}
	if c.cfg.Busy != nil && c.cfg.Busy() {
		child.SetBackground(true)
	}
	unwatch := context.AfterFunc(ctx, child.Kill)
	e := end{End: child.End(), cause: context.Cause(ctx)}
	unwatch()
	fair.ShareOf(ctx).Charge(e.CPU)
	o, err := c.outcomeOf(e, out)
	c.log(d, e, o, err, time.Since(start))
	return o, err
}

// start starts a child. Its standard input is the request, then the module.
func (c *Compiler) start(scratch string, binary []byte, out *stdout) (*process.Process, error) {
	line, err := json.Marshal(request{
		Size:   len(binary),
		CPU:    c.cfg.CPU,
		Memory: c.cfg.Memory,
		Procs:  min(maxProcs, goruntime.GOMAXPROCS(0)),
		Engine: c.cfg.Engine,
	})
	if err != nil {
		return nil, err
	}
	return process.Start(process.Config{
		Executable: c.cfg.Executable,
		Name:       childName,
		Env:        environment,
		Dir:        scratch,
		Stdin:      io.MultiReader(bytes.NewReader(append(line, '\n')), bytes.NewReader(binary)),
		Stdout:     out,
		MaxStderr:  maxStderr,
		Namespaces: true,
		Logger:     c.cfg.Logger,
	})
}

// An end is how a child ended.
type end struct {
	process.End
	cause error // why it was killed; nil when it ended by itself
}

// outcomeOf returns the outcome of a child that ended. A child's output can do no more than refuse its own module.
func (c *Compiler) outcomeOf(e end, out *stdout) (outcome, error) {
	said, complete, err := out.answer()
	switch {
	case err != nil:
		return outcome{}, fmt.Errorf("compiler: %w", err)
	case complete:
		return c.answered(said)
	case errors.Is(e.cause, errTimeout):
		return c.timedOut(e, out.isReady())
	case e.cause != nil:
		return outcome{}, e.cause
	case c.isKilled(e):
		return outcome{}, fmt.Errorf("compiler: %w (%v)", errKilled, e)
	case !out.isReady():
		return outcome{}, fmt.Errorf("compiler: the child ended (%v) before it began: does its main call compiler.Main?", e)
	}
	return c.died(e)
}

// isSpent reports whether a child has used its processor time. The kernel counts in ticks.
func (c *Compiler) isSpent(e end) bool { return e.CPU >= c.cfg.CPU*3/4 }

// isKilled reports whether something other than this process has killed a child, and not for its processor time.
func (c *Compiler) isKilled(e end) bool {
	return e.Signal == syscall.SIGKILL && !e.Killed && !c.isSpent(e)
}

func (c *Compiler) answered(a answer) (outcome, error) {
	switch a.Failed {
	case "":
		return outcome{}, nil
	case failedModule:
		return refuse(reasonInvalid, &c.cfg, a.Detail), nil
	case failedMemory:
		return refuse(reasonMemory, &c.cfg, a.Detail), nil
	case failedOutput:
		return refuse(reasonOutput, &c.cfg, a.Detail), nil
	}
	return outcome{}, fmt.Errorf("compiler: %.16s: %.512s", a.Failed, a.Detail)
}

// timedOut refuses a module that was compiled the whole time. For a child that hardly ran it returns an error: the
// machine may be less busy the next time.
func (c *Compiler) timedOut(e end, began bool) (outcome, error) {
	if !began {
		return outcome{}, fmt.Errorf("compiler: the child has not begun within %v", c.cfg.Timeout)
	}
	o := refuse(reasonTime, &c.cfg, "")
	if e.CPU < c.cfg.Timeout/2 {
		return outcome{}, o.err()
	}
	return o, nil
}

// exhausted matches the messages of Go when memory is exhausted, and those of the race detector.
var exhausted = lazyregexp.New("out of memory|cannot allocate memory" +
	"|too many address space collisions for -race mode|ThreadSanitizer failed to allocate")

// died returns the outcome of a child that began, and ended without an answer.
func (c *Compiler) died(e end) (outcome, error) {
	detail, _, _ := strings.Cut(e.Stderr, "\n")
	detail = strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], "?")
	switch {
	case e.Signal == syscall.SIGKILL && c.isSpent(e):
		return refuse(reasonCPU, &c.cfg, ""), nil
	case exhausted.MatchString(e.Stderr):
		return refuse(reasonMemory, &c.cfg, detail), nil
	case strings.Contains(e.Stderr, "panic: "), strings.Contains(e.Stderr, "fatal error: stack overflow"):
		return refuse(reasonCrash, &c.cfg, detail), nil
	}
	return outcome{}, fmt.Errorf("compiler: the child ended (%v) without an answer", e)
}

func (c *Compiler) log(d digest, e end, o outcome, err error, took time.Duration) {
	attrs := []any{"digest", short(d), "took", took, "cpu", e.CPU}
	switch {
	case errors.Is(err, context.Canceled):
		c.cfg.Logger.Debug("compilation cancelled, no caller waits for it", attrs...)
	case err != nil:
		c.cfg.Logger.Warn("module not compiled", append(attrs, "err", err, "stderr", e.Stderr)...)
	case o.Refused != "":
		c.cfg.Logger.Warn("module refused", append(attrs, "reason", string(o.Refused), "detail", o.Detail, "stderr", e.Stderr)...)
	default:
		c.cfg.Logger.Debug("module compiled", attrs...)
	}
}
