package process

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
)

// A Namespace is a kind of namespace, and whether this machine allows a child its own.
type Namespace struct {
	// Kind is "user", "pid", "net", "ipc" or "uts".
	Kind string
	// Err is why a child cannot have its own; nil if it can.
	Err error
}

// Namespaces returns which namespaces of their own children can have, each kind once. The first call tries, which takes
// about as long as starting a child; the result is valid from then on, and a child that cannot get these namespaces
// later is not started. Without Linux there are none.
//
// In its own user namespace a child is user and group 65534. To the rest of the machine it is still the user of this
// process, so it can read that user's files. It has no Linux capability, even if that user is root; within its own
// namespaces it has those of its program file.
func Namespaces() []Namespace { return machine().report() }

// kinds is a set of namespaces, as clone(2) has it.
type kinds uintptr

// An answer is the result of trying namespaces.
type answer struct {
	permitted kinds
	all       []Namespace
	said      sync.Once
}

// known is the valid answer.
var known struct {
	sync.Mutex
	answer *answer
}

// machine tries namespaces until the answer is permanent: an error for lack of resources is not.
func machine() *answer {
	known.Lock()
	defer known.Unlock()
	if known.answer != nil {
		return known.answer
	}
	a := &answer{}
	onForkThread(func() { a.permitted, a.all = ask() })
	if !slices.ContainsFunc(a.all, func(n Namespace) bool { return isTransient(n.Err) }) {
		known.answer = a
	}
	return a
}

// startOptimistic starts a child with all namespaces, if no answer is known yet. Success is the answer, without the
// time of a try. It returns nil if an answer is known, or on any failure.
func startOptimistic(path string, cfg Config) *Process {
	known.Lock()
	defer known.Unlock()
	permitted, all := probeNamespaces()
	if known.answer != nil || permitted == 0 {
		return nil
	}
	p, err := start(path, cfg, permitted, all)
	if err != nil {
		return nil
	}
	known.answer = &answer{permitted: permitted, all: all}
	return p
}

func (a *answer) report() []Namespace { return slices.Clone(a.all) }

// logRefused logs the refused namespaces, if there are any.
func (a *answer) logRefused(logger *slog.Logger) {
	var errs []error
	for _, n := range a.all {
		errs = append(errs, n.Err)
	}
	err := errors.Join(errs...)
	if err == nil || logger == nil {
		return
	}
	a.said.Do(func() { logger.Warn("child processes are less isolated than they could be", "err", err) })
}
