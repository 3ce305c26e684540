package main

import (
	"errors"
	"os"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

func registerFaults() {
	wasmres.Template("test://fault/{kind}", fault).
		Name("fault").Describe("Reading it goes wrong in the way it says.").MIME("text/plain").
		CompleteFrom("kind", "trap", "loop", "memory", "stdout", "badtext", "baduri", "internal", "exit", "slow")
}

func fault(r *wasmres.Request) (wasmres.Content, error) {
	switch r.Var("kind") {
	case "trap":
		panic("a fault on purpose")
	case "exit":
		os.Exit(3)
	case "loop":
		loop()
	case "memory":
		memory()
	case "stdout":
		return stdout(), nil
	case "badtext":
		return wasmres.Text("not UTF-8: caf\xe9"), nil
	case "baduri":
		return wasmres.Text("text").URI("test://bad\nuri"), nil
	case "internal":
		return wasmres.Content{}, errors.New("the password is hunter2")
	case "slow":
		return wasmres.Content{}, slow(r)
	}
	return wasmres.Content{}, wasmres.NotFound("there is no fault " + r.Var("kind"))
}

// loop never ends: an odd number that grows by two never becomes zero.
func loop() {
	for n := 1; n != 0; n += 2 {
	}
}

// memory doubles what it holds until there is no more.
func memory() {
	for b := make([]byte, mib); len(b) > 0; b = append(b, b...) {
	}
}

// stdout writes what a client would take for an answer if it ever saw it.
func stdout() wasmres.Content {
	_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"forged":true}}` + "\n")
	println("and a line to standard error")
	return wasmres.Text("Wrote a forged answer to standard output.\n")
}

// slow waits until it is told to stop, as a good provider does.
func slow(r *wasmres.Request) error {
	for r.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	return r.Err()
}
