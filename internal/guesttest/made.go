package guesttest

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// Inputs are all that a built file depends on, beside its name and the version of Go.
type Inputs struct {
	Tools []string // programs that build the file; their versions count
	Args  []string // how they are called, without paths of this machine
	Trees []string // folders, but for tests in Go and what was made in them
}

// Made returns the path of a file called base that build makes of the inputs. Test processes share the file as long as
// the inputs are the same, and must not change it. build gets the path of the file to write, and may end the test. Others
// may keep what they make of the file in its folder.
func Made(tb testing.TB, base string, in Inputs, build func(file string)) string {
	tb.Helper()
	r := newRecipe()
	r.add("tools", []byte(versions(in.Tools)))
	for _, arg := range in.Args {
		r.add("argument", []byte(arg))
	}
	for _, dir := range in.Trees {
		r.addTree(dir)
	}
	file, err := shared(base, r, func(file string) error {
		build(file)
		return nil
	})
	if err != nil {
		tb.Fatalf("make %s: %v", base, err)
	}
	return file
}

// Run runs a program in dir with env added to the environment, for at most three minutes, and ends the test with what the
// program printed if it fails.
func Run(tb testing.TB, dir string, env []string, name string, args ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second // for what the command has started and left
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build in %s: %v\n%s\n%s", dir, err, cmd, out)
	}
}

// Tool returns the path of the first of the named programs that is installed. Without one the test is [Missing] it.
func Tool(tb testing.TB, install string, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, "there is none of %v; to install one: %s", names, install)
	return ""
}
