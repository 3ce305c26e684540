// Chance is a provider whose answers are of the moment: they tell the time, and have something random in them.
package main

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unsafe"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

var (
	started = time.Now()
	drawn   = rand.Uint64()
	calls   = 0
)

func init() {
	wasmres.Provider("chance", "1.0.0").Shared()
	wasmres.Template("chance://time/{n}", clocks).Name("time").Describe("The time, and a nap.")
	wasmres.Template("chance://number/{n}", numbers).Name("number").Describe("Random numbers.")
	wasmres.Template("chance://nap/{seconds}", nap).Name("nap").Describe("Sleeps for so long.")
}

func clocks(r *wasmres.Request) (string, error) {
	left, host, began := r.TimeLeft(), r.Now(), time.Now()
	time.Sleep(1500 * time.Millisecond)
	calls++
	return "call " + strconv.Itoa(calls) + "\nhost " + stamp(host) + "\nwall " + stamp(began) +
		"\nup " + began.Sub(started).String() + ", left " + left.String() + ", slept " + time.Since(began).String() + "\n", nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

//go:wasmimport wasi_snapshot_preview1 random_get
//go:noescape
func randomGet(p unsafe.Pointer, n uint32) (errno uint32)

func numbers(*wasmres.Request) (string, error) {
	secret := make([]byte, 100) // more than are drawn at once
	if randomGet(unsafe.Pointer(&secret[0]), uint32(len(secret))) != 0 {
		return "", wasmres.Unavailable("no random bytes", 0)
	}
	return "started with " + strconv.FormatUint(drawn, 10) + ", drew " + strconv.FormatUint(rand.Uint64(), 10) +
		" and " + hex.EncodeToString(secret) + "\nshuffled " + strings.Join(shuffled(), " ") + "\n", nil
}

// shuffled gives the keys of a map in the order in which a range finds them.
func shuffled() (keys []string) {
	letters := map[string]bool{}
	for c := 'a'; c <= 'z'; c++ {
		letters[string(c)] = true
	}
	for key := range letters {
		keys = append(keys, key)
	}
	return keys
}

func nap(r *wasmres.Request) (string, error) {
	seconds, err := strconv.Atoi(r.Var("seconds"))
	if err != nil {
		return "", wasmres.Invalid("that is no number")
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	return "Slept well.\n", nil
}

func main() {}
