package main

import (
	"fmt"
	"os"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// A bench runs workloads and writes what they show into the book.
type bench struct {
	options options
	env     []string
	book    *book
}

// run measures the targets in turn, round after round. Each has one server for all rounds, and more if the
// workload starts some.
func (b *bench) run(w workload, all []target) {
	servers := make(map[string]*server)
	failed := make(map[string]bool)
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	for round := range b.options.rounds {
		for _, t := range all {
			if !t.serves(w) || failed[t.name] {
				continue
			}
			began := time.Now()
			s, err := b.turn(w, t, servers)
			b.say("%s: %s took %v: %v", w.name, t.name, time.Since(began).Round(time.Millisecond), s)
			if err != nil {
				failed[t.name] = true
				fmt.Fprintf(os.Stderr, "serving: %s: %s: %v\n", w.name, t.name, err)
				continue
			}
			b.book.add(w, t, round, s)
		}
	}
}

func (b *bench) turn(w workload, t target, servers map[string]*server) (sample, error) {
	turn := &turn{bench: b, workload: w, target: t, server: servers[t.name]}
	if turn.server != nil {
		return w.measure(turn)
	}
	s, err := turn.start()
	if err != nil {
		return nil, err
	}
	servers[t.name] = s
	turn.server = s
	if err := turn.prepare(); err != nil {
		return nil, err
	}
	return w.measure(turn)
}

// say tells what is done to those who want to know.
func (b *bench) say(format string, args ...any) {
	if b.options.verbose {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

func (t *turn) start() (*server, error) {
	env := t.env
	if t.workload.uri == largeURI {
		env = append(env[:len(env):len(env)], fixture.HoldEnv+"=1")
	}
	way := t.workload.lane
	s, err := startServer(t.target.argv(way, t.workload.encoded()), env, way, t.target.revision(way))
	if err == nil {
		t.say("%s: %s is process %d", t.workload.name, t.target.name, s.cmd.Process.Pid)
	}
	return s, err
}

// prepare looks at what the server answers, and gives a slow starter time.
func (t *turn) prepare() error {
	if t.target.role == limit {
		return nil
	}
	if t.workload.uri != largeURI || !t.options.quick { // what is wrong with a large one shows in its length
		if err := check(t.server, t.workload); err != nil {
			return err
		}
	}
	if !t.target.slowStart {
		return nil
	}
	while := load.Load{Duration: max(500*time.Millisecond, 2*t.options.duration)}
	_, err := t.server.load(t.workload.call(), t.workload.at, while)
	return err
}
