package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

// drainTime is how long the program may take to end after a signal: 5 s for requests under way, and the rest for closing.
const drainTime = 8 * time.Second

// A stopSignal is the cause of a context that a signal has cancelled.
type stopSignal struct{ os.Signal }

// Error implements error.
func (s stopSignal) Error() string { return "signal: " + s.String() }

// status is the exit status of a program that s has ended at once, as shells know it: 130 for SIGINT, 143 for SIGTERM.
func (s stopSignal) status() int {
	if number, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return cli.StatusFailed
}

// withSignals returns a context that the first stop signal cancels, with a stopSignal as its cause. A second signal, or
// the end of drainTime, ends the process at once, and guests and helper processes with it. stop stops receiving
// signals.
func withSignals(parent context.Context, args []string, errOut io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals(args)...)
	stopped := make(chan struct{})
	go func() {
		select {
		case <-stopped:
			return
		case s := <-signals:
			cancel(stopSignal{s})
			endAtOnce(stopSignal{s}, signals, stopped, errOut)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel(nil)
	}
}

// endAtOnce waits for stopped. It exits if a second signal or the end of drainTime comes first.
func endAtOnce(first stopSignal, signals <-chan os.Signal, stopped <-chan struct{}, errOut io.Writer) {
	select {
	case <-stopped:
	case s := <-signals:
		fmt.Fprintf(errOut, "wasmres: stopped at once by a second signal (%v); running requests were not answered\n", s)
		os.Exit(stopSignal{s}.status())
	case <-time.After(drainTime):
		fmt.Fprintf(errOut, "wasmres: stopped %v after the signal (%v), with requests still running\n", drainTime, first.Signal)
		os.Exit(first.status())
	}
}

// stopSignals returns the signals that ask a command line to end, which it does after releasing its resources. A hangup is
// none of them if the parent process has set it to be ignored, as nohup does, nor for the command serve, which reads its
// files again then.
func stopSignals(args []string) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	isServer := len(args) > 1 && args[1] == "serve"
	if !isServer && !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
