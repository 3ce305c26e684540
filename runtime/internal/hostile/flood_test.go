//go:build linux

package hostile_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

const (
	floodTime    = time.Second            // for which a flood goes on
	floodTimeout = 500 * time.Millisecond // of one of its calls
	floodCallers = 4
	// floodShare is what the parent may use of a processor for a flood: a quarter, and what it takes to start.
	floodShare = .35
)

// TestTheParentWorksLittleForAFlood has providers send what only the parent has work with, beside a tenant that reads from
// a provider of its own.
func TestTheParentWorksLittleForAFlood(t *testing.T) {
	alone(t)
	run, honest := neighbours(t, 0)
	var computing float64 // the share that the parent uses beside a guest that sends nothing
	for i, f := range hostile.Floods() {
		read := honest.n.Load()
		share, codes := floodFor(t, run, f)
		t.Logf("%-14s the parent used %.2f of a processor, reads of the tenant: %v, calls: %v", f.Name, share, honest.since(read), codes)
		if i == 0 {
			computing = share
		} else if share > computing+floodShare {
			t.Errorf("%s: the parent used %.2f of a processor, want at most %.2f beside the %.2f for a guest that computes", f.Name, share, floodShare, computing)
		}
	}
}

// floodFor calls a provider for a while, and gives the share of a processor that this process used meanwhile.
func floodFor(t *testing.T, run guest.Runner, f hostile.Flood) (share float64, codes map[string]int) {
	t.Helper()
	m, err := provider.Open(t.Context(), provider.Config{
		Runner: run, Limits: limits.Limits{Timeout: floodTimeout},
	}, f.Module)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	ended := make(chan abi.Code)
	began, used := time.Now(), usedCPU()
	for range floodCallers {
		go func() {
			for time.Since(began) < floodTime {
				_, err := attack.Call(m, abi.OpRead, "x:a")
				ended <- abi.CodeOf(err)
			}
			ended <- abi.CodeOK
		}()
	}
	codes = map[string]int{}
	for left := floodCallers; left > 0; {
		if code := <-ended; code == abi.CodeOK {
			left--
		} else {
			codes[code.String()]++
		}
	}
	return (usedCPU() - used).Seconds() / time.Since(began).Seconds(), codes
}

// usedCPU is the time that this process has used of the processors.
func usedCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
