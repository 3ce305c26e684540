package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A report is the table.
type report struct {
	revision  string
	targets   []target
	workloads []workload
	book      *book
}

func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%s, wasmres %s, %d processors (%s), Linux %s, %s.\n\n", time.Now().Format("2006-01-02"),
		r.revision, runtime.NumCPU(), processor(), kernel(), runtime.Version())
	fmt.Fprint(w, "Medians. In brackets: how many times as good as a peer wasmres in process is, which share of that the worker\n"+
		"process keeps, and which share of a fixed reply it reaches; of times and memory less is good.\n\n")
	fmt.Fprint(w, "| workload | figure |")
	for _, t := range r.targets {
		fmt.Fprintf(w, " %s |", t.title)
	}
	fmt.Fprintln(w, "\n|---|---|"+strings.Repeat("---|", len(r.targets)))
	for _, load := range r.workloads {
		title := load.title
		for _, m := range load.metrics {
			fmt.Fprintf(w, "| %s | %s |", title, m.unit)
			for _, t := range r.targets {
				fmt.Fprintf(w, " %s |", r.cell(load, t, m))
			}
			fmt.Fprintln(w)
			title = "…"
		}
	}
}

func (r report) cell(w workload, t target, m metric) string {
	value, ok := r.book.median(w, t, m)
	if !ok {
		return "–"
	}
	own, ok := r.own(w, m)
	if !ok || m.absolute || t.role == ours || value == 0 || own == 0 {
		return figure(value)
	}
	better := own / value // how many times as good ours is
	if !m.more {
		better = value / own
	}
	switch t.role {
	case walled:
		return fmt.Sprintf("%s (%.2f)", figure(value), 1/better)
	case limit:
		return fmt.Sprintf("%s (%.2f)", figure(value), better)
	}
	return fmt.Sprintf("%s (%s×)", figure(value), figure(better))
}

// own gives the figure of wasmres itself.
func (r report) own(w workload, m metric) (float64, bool) {
	for _, t := range r.targets {
		if t.role == ours {
			return r.book.median(w, t, m)
		}
	}
	return 0, false
}

// figure writes three digits that say something, and thousands with commas.
func figure(v float64) string {
	switch {
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(text), "model name")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(text))
}
