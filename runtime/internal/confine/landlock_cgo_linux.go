//go:build cgo

package confine

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// restrictThreads restricts all threads to the files of the grants. With cgo, Go cannot make a system call on all
// threads. The library's way is libpsx, which looks for them in /proc under the process's own id: within a pid
// namespace that id names another process there, and libpsx would wait for ever.
func restrictThreads(abi int, grants []grant) error {
	ruleset, err := newRuleset(configs()[abi-1], grants)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	return onEveryThread(ruleset)
}

// configs returns the restrictions of each version below abiThreads.
func configs() []landlock.Config {
	return []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7}
}

// newRuleset returns the descriptor of a ruleset.
func newRuleset(cfg landlock.Config, grants []grant) (int, error) {
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{
		HandledAccessFS: uint64(cfg.HandledAccessFS), HandledAccessNet: uint64(cfg.HandledAccessNet), Scoped: uint64(cfg.Scoped),
	}, 0)
	if err != nil {
		return -1, fmt.Errorf("create ruleset: %w", err)
	}
	for _, g := range grants {
		if err := g.addTo(ruleset, cfg.HandledAccessFS); err != nil {
			_ = unix.Close(ruleset)
			return -1, fmt.Errorf("grant %s: %w", g.path, err)
		}
	}
	return ruleset, nil
}

// addTo adds the grant to a ruleset, as far as its version supports the access.
func (g grant) addTo(ruleset int, handled landlock.AccessFSSet) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: uint64(g.access & handled), ParentFd: fd}, 0)
}
