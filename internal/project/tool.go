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

// A Missing is a tool that a build takes and that is not there, or too old.
type Missing struct {
	Tool   string
	Advice string // how to get it on this system
}

func (e *Missing) Error() string { return e.Tool + " is missing: " + e.Advice }

// A Failed is a command of a build that failed.
type Failed struct {
	Command string
	Output  string // all it said; empty when the log has it
	Err     error
}

func (e *Failed) Error() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }

// Unwrap gives why the command failed.
func (e *Failed) Unwrap() error { return e.Err }

// A command is one run of a tool. Env is added to the environment of this process; NAME alone takes a variable out.
type command struct {
	path string
	args []string
	env  []string
}

// run runs a tool in the project's folder and gives what it wrote to its standard output.
func (b *builder) run(c command) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(b.ctx, c.path, c.args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, environment(c.env), time.Second
	cmd.Stdout, cmd.Stderr = &out, &said
	if b.log != nil {
		fmt.Fprintln(b.log, "+", strings.Join(append([]string{c.path}, c.args...), " "))
		log := &inTurn{to: b.log}
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, log), log
	}
	err := cmd.Run()
	if b.ctx.Err() != nil {
		return "", b.ctx.Err()
	}
	if err != nil {
		return "", &Failed{Command: filepath.Base(c.path), Output: said.String() + failedOutput(b, out.String()), Err: err}
	}
	return out.String(), nil
}

// inTurn is a writer for several goroutines.
type inTurn struct {
	mu sync.Mutex
	to io.Writer // guarded by mu
}

// Write implements [io.Writer].
func (w *inTurn) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// failedOutput is what a failed command wrote to its standard output, unless the log has it already.
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
		kept := env[:0]
		for _, v := range env {
			if !strings.HasPrefix(v, name+"=") {
				kept = append(kept, v)
			}
		}
		if env = kept; sets {
			env = append(env, change)
		}
	}
	return env
}

// ask runs a tool for one short answer; empty when it fails.
func (b *builder) ask(path string, args ...string) string {
	cmd := exec.CommandContext(b.ctx, path, args...)
	cmd.Dir, cmd.WaitDelay = b.dir, time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// find gives the absolute path of the first of some programs that is there; empty when none is.
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

// escapeGlob gives a pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
