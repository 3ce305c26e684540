package main

import (
	"fmt"
	"time"

	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// A turn is one server's in one round.
type turn struct {
	*bench
	workload workload
	target   target
	server   *server
}

func (t *turn) load(l load.Load) (sample, error) {
	tree := t.server.tree()
	var before time.Duration
	l.Measuring = func() { before = tree.cpu() }
	r, err := t.server.load(t.workload.call(), t.workload.at, l)
	if err != nil {
		return nil, err
	}
	used := tree.cpu() - before
	return sample{
		"rate":    r.Rate(),
		"volume":  r.Rate() * float64(t.workload.size()) / 1e6,
		"cpu":     micros(used) / float64(r.Requests),
		"streams": float64(r.Streams),
		"client":  micros(r.CPU) / float64(r.Requests),
		"p50":     micros(r.Quantile(0.5)),
		"p99":     micros(r.Quantile(0.99)),
	}, nil
}

// loaded asks as fast as answers come.
func loaded(t *turn) (sample, error) {
	return t.load(load.Load{Warmup: t.options.warmup, Duration: t.options.duration})
}

// halfLoaded asks half as often as answers came when there was no pause.
func halfLoaded(t *turn) (sample, error) {
	full, err := t.load(load.Load{Warmup: t.options.warmup / 2, Duration: t.options.duration / 2})
	if err != nil {
		return nil, err
	}
	s, err := t.load(load.Load{Warmup: t.options.warmup / 2, Duration: t.options.duration, Rate: full["rate"] / 2})
	if err == nil {
		s["spread"] = s["p99"] / s["p50"]
	}
	return s, err
}

// peaked has a server that has done nothing else read a few times, and sees how much memory that takes at most.
func peaked(t *turn) (sample, error) {
	reads := 3
	if t.options.quick {
		reads = 1
	}
	s, err := t.start()
	if err != nil {
		return nil, err
	}
	defer s.stop()
	fresh := *t
	fresh.server = s
	return fresh.peak(reads)
}

func (t *turn) peak(reads int) (sample, error) {
	tree := t.server.tree()
	if _, err := t.server.load(load.Read(smallURI), 1, load.Load{Duration: time.Second, Requests: 50}); err != nil {
		return nil, err
	}
	time.Sleep(300 * time.Millisecond)
	tree.forgetPeak()
	rest := tree.memory("VmRSS")
	s, err := t.load(load.Load{Duration: time.Minute, Requests: reads})
	if err != nil {
		return nil, err
	}
	grown := tree.memory("VmHWM").minus(rest)
	s["peak"], s["children"], s["idle"] = max(0, grown.server), max(0, grown.children), rest.server+rest.children
	return s, nil
}

// started starts a server some times over and asks it once. The first time, which may find caches cold, is not counted.
func started(t *turn) (sample, error) {
	const starts = 4
	var times []float64
	for range starts {
		took, err := t.startOnce()
		if err != nil {
			return nil, err
		}
		times = append(times, micros(took)/1e3)
	}
	return sample{"elapsed": middle(times[1:])}, nil
}

func (t *turn) startOnce() (time.Duration, error) {
	s, err := t.start()
	if err != nil {
		return 0, err
	}
	defer s.stop()
	ask, end, err := s.caller()
	if err != nil {
		return 0, err
	}
	defer end()
	_, err = ask.Call(t.workload.call(), nil)
	return time.Since(s.began), err
}

// listed pages through the list over and over.
func listed(t *turn) (sample, error) {
	ask, end, err := t.server.caller()
	if err != nil {
		return nil, err
	}
	defer end()
	tree := t.server.tree()
	var times []float64
	used := tree.cpu()
	for began := time.Now(); len(times) < 3 || time.Since(began) < t.options.duration; {
		at := time.Now()
		n, err := pageThrough(ask)
		if err != nil {
			return nil, err
		}
		if n != pages && n != morePages {
			return nil, fmt.Errorf("a list of %d pages, not %d", n, pages)
		}
		times = append(times, micros(time.Since(at))/1e3)
	}
	used = tree.cpu() - used
	return sample{"elapsed": middle(times), "cpu": micros(used) / float64(len(times))}, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
