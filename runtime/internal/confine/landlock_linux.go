package confine

import (
	"fmt"
	"os"
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// abiThreads is the version of Landlock from which the kernel itself confines all threads at once.
	abiThreads = 8
	// abiKnown is the newest version whose restrictions this package requests.
	abiKnown = 11

	mayReadFile    = ll.AccessFSReadFile
	mayReadFolder  = mayReadFile | ll.AccessFSReadDir
	mayWriteFile   = mayReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	mayWriteFolder = mayReadFolder | mayWriteFile | ll.AccessFSMakeReg | ll.AccessFSRemoveFile
)

// A grant is access to a file or to the content of a directory.
type grant struct {
	path   string
	access landlock.AccessFSSet
}

// restrictFiles restricts the process to some files. Landlock denies everything else that it controls.
func restrictFiles(read, write []string) (Layer, error) {
	layer := probeLandlock()
	if !layer.On {
		return layer, nil
	}
	readable, err := grants(read, mayReadFile, mayReadFolder)
	if err != nil {
		return Layer{}, err
	}
	writable, err := grants(write, mayWriteFile, mayWriteFolder)
	if err != nil {
		return Layer{}, err
	}
	if err := restrict(append(readable, writable...)); err != nil {
		return Layer{}, err
	}
	return layer, nil
}

// grants returns a grant for each path, with one access for files and another for directories.
func grants(paths []string, toFile, toFolder landlock.AccessFSSet) (all []grant, err error) {
	for _, path := range paths {
		file, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("landlock: %w", err)
		}
		access := toFile
		if file.IsDir() {
			access = toFolder
		}
		all = append(all, grant{path, access})
	}
	return all, nil
}

// restrictAllFiles removes the access to the remaining files.
func restrictAllFiles(entered Layer) (Layer, error) {
	if !entered.On {
		return entered, nil
	}
	if err := restrict(nil); err != nil {
		return Layer{}, err
	}
	entered.Detail += ", no files"
	return entered, nil
}

// restrict restricts all threads to the files of the grants.
func restrict(grants []grant) error {
	abi, err := landlockABI()
	switch {
	case err != nil:
	case abi < abiThreads:
		err = restrictBelow(abi, grants)
	default:
		err = restrictProcess(grants)
	}
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// restrictProcess restricts by the library, where the kernel reaches all threads.
func restrictProcess(grants []grant) error {
	rules := make([]landlock.Rule, len(grants))
	for i, g := range grants {
		rules[i] = landlock.PathAccess(g.access, g.path)
	}
	return landlock.V11.BestEffort().Restrict(rules...)
}

// restrictBelow restricts by the means of an ABI that confines one thread at a time.
func restrictBelow(abi int, grants []grant) error {
	ruleset, err := newRuleset(configs()[abi-1], grants)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	return restrictThreads(ruleset)
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

func probeLandlock() Layer {
	abi, err := landlockABI()
	if err != nil {
		return Layer{Name: Landlock, Detail: err.Error()}
	}
	return Layer{Name: Landlock, On: true, Detail: fmt.Sprintf("ABI %d", abi)}
}

// landlockABI returns the version in force, as the library counts: version 6 has signal scopes, which only work with
// the correction of errata bit 1.
var landlockABI = sync.OnceValues(func() (int, error) {
	abi, err := ll.LandlockGetABIVersion()
	switch err {
	case nil:
	case unix.ENOSYS:
		return 0, fmt.Errorf("the kernel does not have it: Linux 5.13 or newer does, built with CONFIG_SECURITY_LANDLOCK")
	case unix.EOPNOTSUPP:
		return 0, fmt.Errorf("it is switched off when the kernel starts: add landlock to lsm= on its command line")
	default:
		return 0, fmt.Errorf("ask for its version: %w", err)
	}
	if errata, err := ll.LandlockGetErrata(); abi >= 6 && (err != nil || errata&2 == 0) {
		abi = 5
	}
	return min(abi, abiKnown), nil
})
