// Crash is a provider that crashes as its URI says, after it has used what a host grants, the time and random numbers.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

func main() {}

func init() {
	wasmres.Provider("crash", "1.0.0")
	wasmres.Ask("kv", "keeps values").Optional()
	wasmres.Template("crash://{kind}/{n}", crash)
}

var kept [][]byte

func crash(r *wasmres.Request) (string, error) {
	n, err := r.Int("n")
	if err != nil {
		return "", err
	}
	if _, err := wasmres.KV().Put("seed", []byte(r.Var("n"))); err != nil {
		return "", err
	}
	value, err := wasmres.KV().Get("seed")
	if err != nil {
		return "", err
	}
	plain, _ := r.Config("plain")
	work := work(int(n)+len(value)+len(plain), rand.Intn(5000)+time.Now().Nanosecond()%1000)
	switch r.Var("kind") {
	case "panic":
		panic(fmt.Sprint("no such note ", work))
	case "nil":
		return find(work).title, nil
	case "index":
		return strconv.Itoa(int(value[work+len(value)])), nil
	case "divide":
		return strconv.Itoa(work / (len(value) - len(r.Var("n")))), nil
	case "exit":
		os.Exit(work%100 + 1)
	case "stack":
		return strconv.Itoa(deeper(work)), nil
	case "memory":
		for {
			kept = append(kept, make([]byte, 1<<20+work))
		}
	case "calls":
		for {
			_, _ = wasmres.KV().Get("seed")
		}
	}
	for i := 0; ; i++ {
		work = work*7 + i
		if work == -1 {
			return "", nil
		}
	}
}

type note struct{ title string }

//go:noinline
func find(n int) *note {
	if n < 0 {
		return &note{"none"}
	}
	return nil
}

// work takes time that differs with what it is given.
func work(n, times int) int {
	for i := range times {
		n = (n*31 + i) % 100_003
	}
	return n
}

// deeper does not return for n from 0 on: its stack overflows first.
//
//go:noinline
func deeper(n int) int {
	if n < 0 {
		return n
	}
	return deeper(n+1) + 1
}
