package process

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
)

// A Namespace is a kind of namespace, and whether this machine gives a child one of its own.
type Namespace struct {
	// Kind is "user", "pid", "net", "ipc" or "uts".
	Kind string
	// Err is why there is none; nil when there is.
	Err error
}

// Namespaces tells which namespaces of their own children get that ask for them, each kind once. The machine is asked
// the first time, which takes about as long as to start a child, and its answer stands from then on: a child that is to
// have them later either gets them or is not started. Without Linux there are none.
//
// In a user namespace of its own a child is user and group 65534. To the rest of the machine it is still the user that
// runs this process, so it can read that user's files; but it has no capability, even when that user is root, save in
// its own namespaces those that its program file has.
func Namespaces() []Namespace { return machine().report() }

// kinds is a set of namespaces, as clone(2) has it.
type kinds uintptr

// An answer of the machine.
type answer struct {
	permitted kinds
	all       []Namespace
	said      sync.Once
}

// known is what the machine has answered.
var known struct {
	sync.Mutex
	answer *answer
}

// machine asks the machine, until it gets an answer that stands: that there is too little of something now is none.
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

// startOptimistic starts a child with all namespaces there are while the machine has not been asked for any, which is then
// answered: to ask takes as long as to start. It gives nil when that is not so, or fails for whatever reason.
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

// logRefused logs the namespaces that are refused, if there are any.
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
