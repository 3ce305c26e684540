package project

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Missing is the error about a tool that is not installed or too old.
type Missing struct {
	Tool   string
	Advice string // how to install it on this system
}

func (e *Missing) Error() string { return e.Tool + " is missing: " + e.Advice }

// A Failed is the error about a command that failed.
type Failed struct {
	Command string
	Output  string // of the command; empty if the log has it
	Err     error
}

func (e *Failed) Error() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }

// Unwrap returns the cause.
func (e *Failed) Unwrap() error { return e.Err }

// A command is one run of a tool. env changes the environment of this process: NAME=VALUE sets a variable, NAME removes it.
type command struct {
	path string
	args []string
	env  []string
}

// run runs a tool in the project's directory and gives its standard output.
func (b *builder) run(c command) (string, error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(b.ctx, c.path, c.args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, environment(c.env), time.Second
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if b.log != nil {
		fmt.Fprintln(b.log, "+", strings.Join(append([]string{c.path}, c.args...), " "))
		log := &syncWriter{to: b.log}
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, log), log
	}
	err := cmd.Run()
	if b.ctx.Err() != nil {
		return "", b.ctx.Err()
	}
	if err != nil {
		return "", &Failed{Command: filepath.Base(c.path), Output: errOut.String() + failedOutput(b, out.String()), Err: err}
	}
	return out.String(), nil
}

// A syncWriter is a writer for several goroutines.
type syncWriter struct {
	mu sync.Mutex
	to io.Writer // guarded by mu
}

// Write implements [io.Writer].
func (w *syncWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// failedOutput returns the standard output of a failed command; empty if the log has it.
func failedOutput(b *builder, out string) string {
	if b.log != nil {
		return ""
	}
	return out
}

func environment(changes []string) []string {
	env := os.Environ()
	for _, change := range changes {
		name, _, sets := strings.Cut(change, "=")
		others := env[:0]
		for _, v := range env {
			if !strings.HasPrefix(v, name+"=") {
				others = append(others, v)
			}
		}
		if env = others; sets {
			env = append(env, change)
		}
	}
	return env
}

// ask runs a tool and gives its standard output without spaces around it; empty if it fails.
func (b *builder) ask(path string, args ...string) string {
	cmd := exec.CommandContext(b.ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = b.dir, time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// find returns the absolute path of the first of some programs that is installed; empty for none.
func find(names ...string) string {
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err == nil {
			return path
		}
	}
	return ""
}

// escapeGlob returns a pattern that matches only path.
func escapeGlob(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
