package main

import (
	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// A workload is what is asked of each server, and how it is measured.
type workload struct {
	name, title string
	lane        lane
	uri         string
	at          int  // requests at a time
	constant    bool // a fixed reply is its limit
	metrics     []metric
	measure     func(*turn) (sample, error)
}

// A sample is what one server showed in one round.
type sample map[string]float64

// A metric is one figure of a sample.
type metric struct {
	key, unit string
	more      bool // is better
	absolute  bool // not to be compared
}

var (
	rate     = metric{key: "rate", unit: "requests/s", more: true}
	volume   = metric{key: "volume", unit: "MB/s", more: true}
	cpuTime  = metric{key: "cpu", unit: "server CPU µs"}
	median   = metric{key: "p50", unit: "p50 µs"}
	p99      = metric{key: "p99", unit: "p99 µs"}
	spread   = metric{key: "spread", unit: "p99 / p50", absolute: true}
	elapsed  = metric{key: "elapsed", unit: "ms"}
	peak     = metric{key: "peak", unit: "MiB above idle", absolute: true}
	children = metric{key: "children", unit: "MiB above idle, processes it has started", absolute: true}
	idle     = metric{key: "idle", unit: "MiB idle, all processes", absolute: true}
)

const (
	smallURI = "text://small"
	textURI  = "text://1m"
	blobURI  = "blob://1m"
	largeURI = "blob://64m"
)

func workloads() []workload {
	small := []metric{rate, cpuTime, median, p99}
	large := []metric{volume, cpuTime}
	half := []metric{median, p99, spread}
	memory := []metric{volume, cpuTime, peak, children, idle}
	return []workload{
		{"small-http", "small text, HTTP, 16 connections", http, smallURI, 16, true, small, loaded},
		{"small-modern", "small text, HTTP, 2026-07-28, 16 connections", modern, smallURI, 16, true, small, loaded},
		{"small-half", "small text, HTTP, 16 connections, half the load", http, smallURI, 16, true, half, halfLoaded},
		{"small-stdio", "small text, stdio, 16 under way", stdio, smallURI, 16, true, small, loaded},
		{"blob-http", "1 MiB blob, HTTP", http, blobURI, 1, true, large, loaded},
		{"blob-http-4", "1 MiB blob, HTTP, 4 connections", http, blobURI, 4, true, large, loaded},
		{"blob-stdio", "1 MiB blob, stdio", stdio, blobURI, 1, true, large, loaded},
		{"text-http", "1 MiB text, HTTP", http, textURI, 1, true, large, loaded},
		{"text-http-4", "1 MiB text, HTTP, 4 connections", http, textURI, 4, true, large, loaded},
		{"text-stdio", "1 MiB text, stdio", stdio, textURI, 1, true, large, loaded},
		{"large-http", "64 MiB blob, HTTP", http, largeURI, 1, false, memory, peaked},
		{"large-stdio", "64 MiB blob, stdio", stdio, largeURI, 1, false, memory, peaked},
		{"list-http", "list of 10,000, HTTP", http, "", 1, false, []metric{elapsed, cpuTime}, listed},
		{"list-stdio", "list of 10,000, stdio", stdio, "", 1, false, []metric{elapsed, cpuTime}, listed},
		{"start-stdio", "start to first response, stdio", stdio, smallURI, 1, false, []metric{elapsed}, started},
		{"start-http", "start to first response, HTTP", http, smallURI, 1, false, []metric{elapsed}, started},
	}
}

// call is what the workload asks.
func (w workload) call() load.Call {
	if w.uri == "" {
		return load.Call{Method: "resources/list"}
	}
	return load.Read(w.uri)
}

// size is the bytes of contents in a response.
func (w workload) size() int {
	r, _ := fixture.ByURI(w.uri)
	return r.Size
}

// encoded is about how many bytes a response has.
func (w workload) encoded() int {
	const envelope = 130
	if r, _ := fixture.ByURI(w.uri); r.Binary {
		return r.Size/3*4 + envelope
	}
	return w.size() + envelope
}
