//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/faultpoint"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tenant/store"
)

// Variables of the environment of a server that a test starts: at which fault point it kills itself, as a number from 1 or by its name,
// POINT|FILE for the one at which it stops, as by SIGSTOP, until there is a file, and the file to which it writes the names of those that
// it reaches.
const (
	dieKey    = "WASMRES_TEST_DIE"
	hangKey   = "WASMRES_TEST_HANG"
	pointsKey = "WASMRES_TEST_POINTS"
)

// runUntilKilled is the program, in a process of this test's binary that may kill itself at a fault point.
func runUntilKilled() {
	name := os.Getenv(dieKey)
	hang, goesOn, _ := strings.Cut(os.Getenv(hangKey), "|")
	at, _ := strconv.ParseInt(name, 10, 64)
	points, _ := os.OpenFile(os.Getenv(pointsKey), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if name+hang != "" || points != nil {
		var n atomic.Int64
		faultpoint.Set(func(reached string) {
			if points != nil {
				_, _ = points.WriteString(reached + "\n")
			}
			if reached == hang {
				stopUntil(goesOn)
			}
			if n.Add(1) == at || reached == name {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		})
	}
	runToEnd()
}

// stopUntil stops this process. What sends it SIGCONT makes a file before: the kernel may need a moment to stop it.
func stopUntil(file string) {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// kills says how often servers are killed: WASMRES_KILLS times at random and once at each fault point, or a few times.
func kills() (random int, everywhere bool) {
	n, err := strconv.Atoi(os.Getenv("WASMRES_KILLS"))
	if err != nil {
		return 3, false
	}
	return n, true
}

// A victim is a server of one tenant, which is killed and started again on the same data.
type victim struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	api  *admin.Client
	done chan error
	slow time.Duration // the longest start

	enter  []string // before the command, where the server has another view of the files; nil for none
	inside string   // dir as the server sees it; empty for dir
	logDir string   // has the log; empty for dir
}

const victimFile = `providers: {notes: {}, old: {}}
roles: {reader: [{uris: ["**"]}]}
auth: {anonymous: [reader]}
`

// newVictim makes the data of a server that has versions to remove: those of the provider old.
func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\n", "tenants/acme.yaml": victimFile} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(v.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), store.Config{Dir: filepath.Join(v.dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	c := tenant.Change{Owner: tenant.OwnerFiles, SetTenants: []*tenant.Tenant{{ID: "acme", Owner: tenant.OwnerFiles, Providers: []tenant.Provider{{Name: "old"}}}}}
	for n := 1; n <= 2; n++ {
		c.SetVersions = append(c.SetVersions, &tenant.Version{
			Tenant: "acme", Provider: "old", Number: n, Digest: fmt.Sprintf("sha256:%064x", n), State: tenant.StateRefused, Created: time.Now().Add(-40 * 24 * time.Hour),
		})
	}
	if _, err := s.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	v.api = admintest.Client(t, filepath.Join(v.dir, "data", admin.SocketName))
	t.Cleanup(v.kill)
	return v
}

// start starts the server, and reports whether it answers; false if it was killed before.
func (v *victim) start(env ...string) bool {
	v.t.Helper()
	err := v.startOrEnd(env...)
	if err != nil && !isKilled(err) {
		v.t.Fatalf("the server has ended: %v: %s", err, v.log())
	}
	return err == nil
}

// startOrEnd starts the server, and returns its end if that comes before it answers.
func (v *victim) startOrEnd(env ...string) error {
	v.t.Helper()
	began := time.Now()
	command := append(slices.Clone(v.enter), "wasmres", "serve", "--config", filepath.Join(cmp.Or(v.inside, v.dir), "serve.yaml"), "--log-level", "warn")
	v.cmd = exec.Command(command[0], command[1:]...)
	v.cmd.Env = append(os.Environ(), env...)
	log, err := os.Create(v.logFile())
	if err != nil {
		v.t.Fatal(err)
	}
	defer log.Close()
	v.cmd.Stderr = log
	if err := v.cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan<- error) { done <- cmd.Wait() }(v.cmd, v.done)
	for {
		if _, err := v.api.Node(v.t.Context()); err == nil {
			v.slow = max(v.slow, time.Since(began))
			return nil
		}
		select {
		case err := <-v.done:
			v.done <- err
			return cmp.Or(err, errors.New("exit status 0"))
		case <-time.After(2 * time.Millisecond):
		}
		if time.Since(began) > time.Minute {
			v.t.Fatalf("the server does not start: %s", v.log())
		}
	}
}

func (v *victim) logFile() string { return filepath.Join(cmp.Or(v.logDir, v.dir), "log") }

// log is what the server has said since its last start.
func (v *victim) log() string {
	text, _ := os.ReadFile(v.logFile())
	return string(text)
}

func isKilled(err error) bool { return err != nil && strings.Contains(err.Error(), "signal: killed") }

// kill kills the server, if it runs, and waits for its end.
func (v *victim) kill() {
	if v.cmd == nil {
		return
	}
	_ = v.cmd.Process.Kill()
	<-v.done
	v.cmd = nil
}

// stop ends the server, and holds its ledger against its store.
func (v *victim) stop() {
	v.t.Helper()
	node, err := v.api.Node(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	_ = v.cmd.Process.Signal(syscall.SIGTERM)
	<-v.done
	v.cmd = nil
	dir := filepath.Join(v.dir, "data", "ledger")
	if _, err := ledger.Verify(v.t.Context(), dir, ledger.Expect{}); err != nil {
		v.t.Errorf("the ledger does not verify: %v", err)
	}
	var generation uint64
	err = ledger.Read(dir, func(l *ledger.Line) error {
		if l.Action == "change.unrecorded" {
			v.t.Errorf("the store had a change before the ledger: %+v", l)
		}
		generation = max(generation, l.Generation)
		return nil
	})
	if err != nil || generation < node.Generation {
		v.t.Errorf("the ledger has generation %d, the store %d: %v", generation, node.Generation, err)
	}
}

// A seen is what a server has: the route of notes, and the states of its versions by number.
type seen struct {
	route    [3]int // active, previous, canary
	versions map[int]tenant.VersionState
}

func (v *victim) look() (s seen, err error) {
	r, err := v.api.Route(v.t.Context(), "acme", "notes")
	if err != nil {
		return s, err
	}
	s.route = [3]int{r.Active, r.Previous, r.Canary}
	all, err := v.api.Versions(v.t.Context(), "acme", "notes")
	s.versions = map[int]tenant.VersionState{}
	for _, one := range all.Items {
		s.versions[one.Number] = one.State
	}
	return s, err
}

// pushed pushes a module, and waits until the server has done with it what it can do alone, for five minutes at most.
func (v *victim) pushed(n admin.NewVersion, module []byte) (admin.Version, error) {
	ctx, cancel := context.WithTimeout(v.t.Context(), 5*time.Minute)
	defer cancel()
	made, err := v.api.PushVersion(ctx, "acme", "notes", n, bytes.NewReader(module))
	for err == nil && slices.Contains([]tenant.VersionState{tenant.StatePushed, tenant.StateAdmitted, tenant.StateCompiled, tenant.StateTried}, made.State) {
		time.Sleep(2 * time.Millisecond)
		made, err = v.api.Version(ctx, "acme", "notes", made.Number)
	}
	return made, err
}

// steps are what operators do, in this order. Each may be done again, after a server that was killed has done a part of it.
func (v *victim) steps() []func() error {
	modules := deployModules(v.t)
	push := func(module string, n admin.NewVersion) func() error {
		return func() error { _, err := v.pushed(n, modules[module]); return err }
	}
	kv := func(keys int) string {
		return fmt.Sprintf("version: \"1.0\"\npermissions:\n  kv: {max_keys: %d}\n", keys)
	}
	ctx := v.t.Context()
	unless := func(is func(seen) bool, do func() error) func() error {
		return func() error {
			s, err := v.look()
			if err != nil || is(s) {
				return err
			}
			return do()
		}
	}
	return []func() error{
		push("fine", admin.NewVersion{Next: "promote"}),
		unless(func(s seen) bool { return s.route[2] == 2 }, push("next", admin.NewVersion{Next: "canary", Share: 100})),
		unless(func(s seen) bool { return s.route[0] == 2 }, func() error { _, err := v.api.Promote(ctx, "acme", "notes", 2, ""); return err }),
		unless(func(s seen) bool { return s.route[0] == 1 }, func() error { _, err := v.api.Rollback(ctx, "acme", "notes", ""); return err }),
		push("fine", admin.NewVersion{Next: "none", Policy: kv(10)}),
		unless(func(s seen) bool { return s.versions[3] == tenant.StateApproved }, func() error { _, err := v.api.ApproveVersion(ctx, "acme", "notes", 3, ""); return err }),
		unless(func(s seen) bool { return s.versions[4] == tenant.StateWaiting }, push("fine", admin.NewVersion{Next: "none", Policy: kv(11)})),
		unless(func(s seen) bool { return s.versions[4] == tenant.StateRejected }, func() error { _, err := v.api.RejectVersion(ctx, "acme", "notes", 4, "no", ""); return err }),
		unless(func(s seen) bool { return s.versions[5] == tenant.StateFailed }, func() error {
			if err := push("crash", admin.NewVersion{Next: "canary", Share: 100})(); err != nil {
				return err
			}
			return v.untilTakenBack()
		}),
	}
}

// untilTakenBack reads until the server has written down that the canary has failed.
func (v *victim) untilTakenBack() error {
	at := regexp.MustCompile(`at (http://[^/]*)/t/TENANT/mcp`).FindStringSubmatch(v.log())
	if at == nil {
		return fmt.Errorf("no endpoint in %s", v.log())
	}
	url := at[1] + "/t/acme/mcp?uri=x:o"
	for {
		s, err := v.look()
		if err != nil || s.route[2] == 0 {
			return err
		}
		for range 20 {
			if answer, err := http.Get(url); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
	}
}

// follow does the steps from one on, and returns how many it has done before the server was killed, with what it had after each.
func (v *victim) follow(from int) (done int, after []seen) {
	v.t.Helper()
	all := v.steps()
	for done = from; done < len(all); done++ {
		err := all[done]()
		if err == nil {
			var s seen
			if s, err = v.look(); err == nil {
				after = append(after, s)
			}
		}
		if isGone := errors.Is(err, admin.ErrUnreachable) || err != nil && regexp.MustCompile("EOF|reset|read the answer").MatchString(err.Error()); isGone {
			return done, after
		}
		if err != nil {
			v.t.Fatalf("step %d: %v: %s", done+1, err, v.log())
		}
	}
	return done, after
}

// check holds what a server has after its start against what it had acknowledged: the state after some steps, or what the next
// one makes of it.
func (v *victim) check(done int, reference []seen) {
	v.t.Helper()
	s, err := v.look()
	if err != nil {
		v.t.Fatal(err)
	}
	before, next := seen{versions: map[int]tenant.VersionState{}}, reference[min(done, len(reference)-1)]
	if done > 0 {
		before = reference[done-1]
	}
	canBe := [][3]int{before.route, next.route}
	if done == len(reference)-1 { // which puts a version on trial and waits for its end
		canBe = append(canBe, [3]int{1, 2, 5})
	}
	if !slices.Contains(canBe, s.route) {
		v.t.Errorf("after %d steps the route is %v, want one of %v", done, s.route, canBe)
	}
	for number, state := range before.versions {
		if got := s.versions[number]; got != state && got != next.versions[number] {
			v.t.Errorf("after %d steps version %d is %q, want %q or %q", done, number, got, state, next.versions[number])
		}
	}
	if len(s.versions) > len(next.versions) {
		v.t.Errorf("after %d steps there are %d versions, want %d at most", done, len(s.versions), len(next.versions))
	}
}

// A server is killed once at each point at which its end could leave something in half, while a version lives its whole life.
// It starts again with all that it had acknowledged, goes on, and comes to the same end as one that was never killed.
func TestServersKilledAtEachFaultPoint(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	first := newVictim(t)
	file := filepath.Join(first.dir, "points")
	first.start(pointsKey + "=" + file)
	done, reference := first.follow(0)
	if done != len(first.steps()) {
		t.Fatalf("only %d steps: %s", done, first.log())
	}
	first.stop()
	points := strings.Split(strings.TrimSpace(string(readFile(t, file))), "\n")
	if len(points) < 40 {
		t.Fatalf("only the points %q", points)
	}
	_, everywhere := kills()
	step, slow := 1, time.Duration(0)
	if !everywhere {
		step = len(points)/3 + 1
	}
	for at := 1 + rand.IntN(step); at <= len(points); at += step {
		v := newVictim(t)
		done := 0
		if v.start(fmt.Sprint(dieKey, "=", at)) {
			done, _ = v.follow(0)
		}
		v.kill()
		v.start()
		v.check(done, reference)
		if again, _ := v.follow(done); again != len(reference) {
			t.Fatalf("killed at point %d, %s: only %d steps: %s", at, points[at-1], again, v.log())
		}
		if end, err := v.look(); err != nil || fmt.Sprint(end) != fmt.Sprint(reference[len(reference)-1]) {
			t.Errorf("killed at point %d, %s: it ends with %v, %v, want %v", at, points[at-1], end, err, reference[len(reference)-1])
		}
		v.stop()
		v.checkBlobs()
		if slow = max(slow, v.slow); t.Failed() {
			t.Fatalf("killed at point %d, %s", at, points[at-1])
		}
	}
	t.Logf("%d points, the longest start took %v", len(points), slow)
}

// checkBlobs checks that the modules of versions are there, and nothing else.
func (v *victim) checkBlobs() {
	v.t.Helper()
	entries, err := os.ReadDir(filepath.Join(v.dir, "data", "blobs", "sha256"))
	left, errLeft := os.ReadDir(filepath.Join(v.dir, "data", "blobs", "ingest"))
	if err != nil || errLeft != nil || len(entries) != 3 || len(left) != 0 {
		v.t.Errorf("got %d modules and %d parts of some, %v, %v", len(entries), len(left), err, errLeft)
	}
}

// An acknowledged is what a server has acknowledged.
type acknowledged struct {
	mu     sync.Mutex
	keys   []string
	plans  []string
	pushed []int // numbers of versions
	active int   // of the last route; asked is the one that was asked for after it
	asked  int
}

// work has three operators write until the server is gone.
func (a *acknowledged) work(ctx context.Context, v *victim, round int) *sync.WaitGroup {
	var writers sync.WaitGroup
	write := func(do func(i int) error) {
		writers.Go(func() {
			for i := 0; do(i) == nil; i++ {
			}
		})
	}
	fine := deployModules(v.t)["fine"]
	write(func(i int) error {
		k, err := v.api.CreateKey(ctx, "acme", admin.NewKey{Name: fmt.Sprintf("k%d-%d", round, i), Roles: []string{"reader"}})
		a.note(err, func() { a.keys = append(a.keys, k.ID) })
		return err
	})
	write(func(i int) error {
		name := fmt.Sprintf("p%d-%d", round, i)
		_, err := v.api.SetPlan(ctx, name, []byte("concurrent: 3\n"))
		a.note(err, func() { a.plans = append(a.plans, name) })
		return err
	})
	write(func(i int) error {
		module := append(bytes.Clone(fine), 0, 9, 8)
		made, err := v.pushed(admin.NewVersion{Next: "none"}, fmt.Appendf(module, "%04d%04d", round, i))
		a.note(err, func() { a.pushed, a.asked = append(a.pushed, made.Number), made.Number })
		if err == nil {
			_, err = v.api.Promote(ctx, "acme", "notes", made.Number, "")
			a.note(err, func() { a.active = made.Number })
		}
		return err
	})
	return &writers
}

func (a *acknowledged) note(err error, do func()) {
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		do()
	}
}

// check looks for all that was acknowledged.
func (a *acknowledged) check(v *victim) {
	v.t.Helper()
	ctx := v.t.Context()
	has := map[string]bool{}
	for cursor := ""; ; {
		page, err := v.api.Keys(ctx, "acme", cursor)
		if err != nil {
			v.t.Fatal(err)
		}
		for _, k := range page.Items {
			has[k.ID] = true
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for cursor := ""; ; {
		page, err := v.api.Plans(ctx, cursor)
		if err != nil {
			v.t.Fatal(err)
		}
		for _, p := range page.Items {
			has[p.Name] = true
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	s, err := v.look()
	if err != nil {
		v.t.Fatal(err)
	}
	newest := 0
	for number := range s.versions {
		has[fmt.Sprint("version ", number)] = true
		newest = max(newest, number)
	}
	wanted := slices.Concat(a.keys, a.plans)
	for _, number := range a.pushed {
		if number > newest-10 { // older ones are removed in time
			wanted = append(wanted, fmt.Sprint("version ", number))
		}
	}
	for _, name := range wanted {
		if !has[name] {
			v.t.Errorf("%s was acknowledged, and is gone", name)
		}
	}
	if s.route[0] != a.active && s.route[0] != a.asked {
		v.t.Errorf("version %d is active, want %d or %d", s.route[0], a.active, a.asked)
	}
	a.active = s.route[0]
}

// A server is killed at random while operators write, again and again: all that it has acknowledged is there, and its ledger
// verifies. WASMRES_KILLS says how often.
func TestServersKilledAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	v, a := newVictim(t), &acknowledged{}
	times, _ := kills()
	for round := range times {
		v.start()
		a.check(v)
		writers := a.work(t.Context(), v, round)
		time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond) // no wait for anything: the moment of the kill is random
		v.kill()
		writers.Wait()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	v.start()
	a.check(v)
	v.stop()
	t.Logf("%d kills: %d keys, %d plans, %d versions acknowledged; the longest start took %v", times, len(a.keys), len(a.plans), len(a.pushed), v.slow)
}
