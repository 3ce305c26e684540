package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serving:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	workloads, targets     string
	rounds                 int
	duration, warmup       time.Duration
	quick, verbose, list   bool
	root, binary, provider string
	out                    string
}

func parse() options {
	var o options
	flag.StringVar(&o.workloads, "w", "", "`workloads`, separated by commas, a * at the end for any; empty for all")
	flag.StringVar(&o.targets, "t", "", "`servers`, in the same way; empty for all")
	flag.IntVar(&o.rounds, "r", 3, "`rounds`")
	flag.DurationVar(&o.duration, "d", time.Second, "`time` to measure one server in one round")
	flag.BoolVar(&o.quick, "quick", false, "one round of 300ms")
	flag.BoolVar(&o.verbose, "v", false, "say what is done, with the servers' process ids")
	flag.BoolVar(&o.list, "l", false, "list workloads and servers")
	flag.StringVar(&o.root, "root", "", "the `folder` of wasmres' sources; empty to look upwards from here")
	flag.StringVar(&o.binary, "wasmres", "", "`file` to run as wasmres; empty to build it")
	flag.StringVar(&o.provider, "provider", "", "`file` with the fixtures' provider; empty to build it")
	flag.StringVar(&o.out, "o", "", "also append each figure to this `file`, as lines of JSON")
	flag.Parse()
	if o.quick {
		o.rounds, o.duration = 1, 300*time.Millisecond
	}
	o.warmup = o.duration / 3
	return o
}

func run() error {
	o := parse()
	chosen := choose(workloads(), o.workloads, func(w workload) string { return w.name })
	if o.list {
		return show(chosen)
	}
	b, err := buildAll(o)
	if err != nil {
		return err
	}
	servers := choose(targets(b), o.targets, func(t target) string { return t.name })
	if len(chosen) == 0 || len(servers) == 0 {
		return errors.New("-w or -t chooses nothing: -l lists what there is")
	}
	book, err := openBook(o.out)
	if err != nil {
		return err
	}
	defer book.close()
	bench := &bench{options: o, env: b.env(), book: book}
	for _, w := range chosen {
		bench.run(w, servers)
	}
	report{b.revision(), servers, chosen, book}.print(os.Stdout)
	return printLimits(os.Stdout)
}

func show(all []workload) error {
	for _, w := range all {
		fmt.Printf("%-14s %s\n", w.name, w.title)
	}
	for _, t := range targets(&built{}) {
		fmt.Printf("%-14s %s\n", t.name, t.title)
	}
	return nil
}
