package compiler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"
)

// Why a child is ended, as the cause of its context.
var (
	errAnswered = errors.New("the child has answered")
	errTimeout  = errors.New("the time for compiling is over")
)

const (
	// maxStderr bounds what is kept of its standard error.
	maxStderr = 8 << 10
	// maxProcs bounds the processors a child uses.
	maxProcs = 4
	// waitDelay is how long a pipe may stay open, in hands that escaped the kill, once the child is gone.
	waitDelay = time.Second
)

// executable gives the path to start: absolute, since children run elsewhere.
func executable(path string) (string, error) {
	if path != "" {
		return filepath.Abs(path)
	}
	if self, ok := selfExecutable(); ok {
		return self, nil
	}
	return os.Executable()
}

// run starts a child and tells what became of the module. The child and its group are gone when it returns.
func (c *Compiler) run(ctx context.Context, d digest, scratch string, module *bytes.Reader) (outcome, error) {
	// The kernel kills a child when the thread that started it ends, so this one must not end before the child does.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
	defer stop()
	out := &stdout{end: cancel}
	stderr := &head{max: maxStderr}
	cmd, err := c.command(ctx, scratch, module)
	if err != nil {
		return outcome{}, err
	}
	cmd.Stdout, cmd.Stderr = out, stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, fmt.Errorf("compiler: start child: %w", err)
	}
	awaitEnd(cmd.Process)      // not yet buried: until it is, its number and its group are its own
	_ = killGroup(cmd.Process) // what it has started
	_ = cmd.Wait()             // how it ended is in ProcessState; what it said is in out

	e := end{cause: context.Cause(ctx), state: cmd.ProcessState, stderr: stderr.String()}
	o, err := c.conclude(e, out)
	c.log(d, e, o, err, time.Since(start))
	return o, err
}

func (c *Compiler) command(ctx context.Context, scratch string, module *bytes.Reader) (*exec.Cmd, error) {
	text, err := json.Marshal(orders{Size: module.Len(), CPU: uint64(c.cfg.CPU / time.Second), Memory: c.cfg.Memory})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.cfg.Executable)
	cmd.Args = []string{childName}
	cmd.Dir = scratch
	cmd.Env = []string{
		childEnv + "=" + string(text),
		"GOMEMLIMIT=" + strconv.FormatUint(c.cfg.Memory/4*3, 10),
		"GOMAXPROCS=" + strconv.Itoa(min(maxProcs, goruntime.GOMAXPROCS(0))),
	}
	cmd.Stdin = module
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = waitDelay
	isolate(cmd)
	return cmd, nil
}

// An end is how a child ended.
type end struct {
	cause  error // why it was killed; nil when it ended by itself
	state  *os.ProcessState
	stderr string
}

// conclude tells what became of the module. Nothing a child says can do more than refuse its own module.
func (c *Compiler) conclude(e end, out *stdout) (outcome, error) {
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
	case !out.isReady():
		return outcome{}, fmt.Errorf("compiler: the child ended (%v) before it began: does its main call compiler.Main?", e.state)
	}
	return c.died(e)
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

// timedOut refuses a module that was worked on all the time. A child that hardly ran says more about the machine, which
// may be less busy the next time.
func (c *Compiler) timedOut(e end, began bool) (outcome, error) {
	if !began {
		return outcome{}, fmt.Errorf("compiler: the child has not begun within %v", c.cfg.Timeout)
	}
	o := refuse(reasonTime, &c.cfg, "")
	if cpu(e.state) < c.cfg.Timeout/2 {
		return outcome{}, o.err()
	}
	return o, nil
}

// exhausted is what Go says when there is no memory, and below it what the race detector makes it say.
var exhausted = regexp.MustCompile("out of memory|cannot allocate memory" +
	"|too many address space collisions for -race mode|ThreadSanitizer failed to allocate")

// died judges a child that began and then ended without an answer.
func (c *Compiler) died(e end) (outcome, error) {
	detail, _, _ := strings.Cut(e.stderr, "\n")
	detail = strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], "?")
	switch {
	case killedBySystem(e.state) && cpu(e.state) >= c.cfg.CPU*9/10: // the kernel counts in ticks
		return refuse(reasonCPU, &c.cfg, ""), nil
	case exhausted.MatchString(e.stderr):
		return refuse(reasonMemory, &c.cfg, detail), nil
	case strings.Contains(e.stderr, "panic: "), strings.Contains(e.stderr, "fatal error: stack overflow"):
		return refuse(reasonCrash, &c.cfg, detail), nil
	}
	return outcome{}, fmt.Errorf("compiler: the child ended (%v) without an answer", e.state)
}

func cpu(state *os.ProcessState) time.Duration { return state.UserTime() + state.SystemTime() }

func (c *Compiler) log(d digest, e end, o outcome, err error, took time.Duration) {
	attrs := []any{"digest", short(d), "took", took, "cpu", cpu(e.state)}
	switch {
	case errors.Is(err, context.Canceled):
		c.cfg.Logger.Debug("module not compiled, nobody waits for it", attrs...)
	case err != nil:
		c.cfg.Logger.Warn("module not compiled", append(attrs, "err", err, "stderr", e.stderr)...)
	case o.Refused != "":
		c.cfg.Logger.Warn("module refused", append(attrs, "reason", string(o.Refused), "detail", o.Detail, "stderr", e.stderr)...)
	default:
		c.cfg.Logger.Debug("module compiled", attrs...)
	}
}
