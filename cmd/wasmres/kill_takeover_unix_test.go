//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
)

// Either process of a takeover is killed at each point at which its end could leave something in half. The other one serves or, if the
// new one is gone after the old one has left, the next start does: with all that was acknowledged.
func TestTakeoversKilledAtEachFaultPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, of := range []struct {
		process string
		points  []string
	}{
		{"old", []string{"before the release", "files released", "release told", "replaced"}},
		{"new", []string{"ready", "ready told", "files free", "serving", "serving told"}},
	} {
		for _, point := range of.points {
			t.Run(of.process+" "+point, func(t *testing.T) {
				v := newVictim(t)
				die := fmt.Sprint(dieKey, "=takeover: ", point)
				oldEnv, newEnv := []string{die}, []string(nil)
				if of.process == "new" {
					oldEnv, newEnv = newEnv, oldEnv
				}
				v.start(oldEnv...)
				if err := v.key("before"); err != nil {
					t.Fatal(err)
				}
				successor, ended := v.replaceBy(newEnv...)
				v.untilKilled(ended, of.process == "old")
				switch {
				case point == "serving told": // the old one has left what it had, and ends
					<-v.done
					v.start()
				case of.process == "new": // the old one goes on
				case v.serves(ended):
					v.cmd, v.done = successor, ended
				default:
					t.Fatalf("the new server has ended: %s", v.log())
				}
				v.untilChanged("after")
				if got := v.keys(); !slices.Equal(got, []string{"after", "before"}) {
					t.Errorf("got the keys %q: %s", got, v.log())
				}
				v.stop()
			})
		}
	}
}

// replaceBy starts a server that takes over. ended gets its end.
func (v *victim) replaceBy(env ...string) (cmd *exec.Cmd, ended chan error) {
	v.t.Helper()
	cmd = exec.Command("wasmres", "serve", "--takeover", "--config", filepath.Join(v.dir, "serve.yaml"), "--log-level", "warn")
	cmd.Env = append(os.Environ(), env...)
	log, err := os.OpenFile(v.logFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		v.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	ended = make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		ended <- cmd.Wait()
		close(gone)
	}()
	v.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone // or it may write to a folder that is being removed
	})
	return cmd, ended
}

// untilKilled waits until the old or the new process of a takeover was killed.
func (v *victim) untilKilled(ended chan error, isOld bool) {
	v.t.Helper()
	if isOld {
		ended = v.done
		v.cmd = nil
	}
	select {
	case err := <-ended:
		if !isKilled(err) {
			v.t.Fatalf("the server has ended: %v: %s", err, v.log())
		}
	case <-time.After(time.Minute):
		v.t.Fatalf("the server was not killed: %s", v.log())
	}
}

// serves waits until the new server of a takeover answers, or has ended.
func (v *victim) serves(ended chan error) bool {
	for {
		if _, err := v.api.Node(v.t.Context()); err == nil {
			return true
		}
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (v *victim) key(name string) error {
	_, err := v.api.CreateKey(v.t.Context(), "acme", admin.NewKey{Name: name, Roles: []string{"reader"}})
	return err
}

// untilChanged makes a key as soon as the server takes changes.
func (v *victim) untilChanged(name string) {
	v.t.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := v.key(name)
		p := (*admin.Problem)(nil)
		isLater := errors.Is(err, admin.ErrUnreachable) || errors.As(err, &p) && p.Status == 503 || err != nil && regexp.MustCompile("EOF|reset|read the answer").MatchString(err.Error())
		if err == nil {
			return
		}
		if !isLater || time.Since(began) > time.Minute {
			v.t.Fatalf("no change succeeds: %v: %s", err, v.log())
		}
	}
}

// keys returns the names of the keys, sorted.
func (v *victim) keys() (names []string) {
	v.t.Helper()
	page, err := v.api.Keys(v.t.Context(), "acme", "")
	if err != nil {
		v.t.Fatal(err)
	}
	for _, k := range page.Items {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}
