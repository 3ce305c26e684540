package confine

import (
	"fmt"
	"os"
	"strconv"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// abiThreads is the version of Landlock from which the kernel itself confines all threads at once.
	abiThreads = 8
	// abiKnown is the newest version whose restrictions are asked for.
	abiKnown = 11

	mayReadFile    = ll.AccessFSReadFile
	mayReadFolder  = mayReadFile | ll.AccessFSReadDir
	mayWriteFile   = mayReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	mayWriteFolder = mayReadFolder | mayWriteFile | ll.AccessFSMakeReg | ll.AccessFSRemoveFile
)

// fence leaves the process some files and, of all else that Landlock knows, nothing.
func fence(read, write []string) (Layer, error) {
	layer := probeLandlock()
	if !layer.On {
		return layer, nil
	}
	readable, err := rules(read, mayReadFile, mayReadFolder)
	if err != nil {
		return Layer{}, err
	}
	writable, err := rules(write, mayWriteFile, mayWriteFolder)
	if err != nil {
		return Layer{}, err
	}
	if err := landlock.V11.BestEffort().Restrict(append(readable, writable...)...); err != nil {
		return Layer{}, fmt.Errorf("landlock: %w", err)
	}
	return layer, nil
}

// rules grant one access to files and another to folders.
func rules(paths []string, toFile, toFolder landlock.AccessFSSet) (all []landlock.Rule, err error) {
	for _, path := range paths {
		file, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("landlock: %w", err)
		}
		access := toFile
		if file.IsDir() {
			access = toFolder
		}
		all = append(all, landlock.PathAccess(access, path))
	}
	return all, nil
}

// fenceAll takes the remaining files away where that is sure to end. libpsx cannot do it twice: it tells the other
// threads by tkill, which Enter has taken away, and waits for their answer for ever. Then the paths are left to seccomp.
func fenceAll(entered Layer) (Layer, error) {
	if !entered.On {
		return entered, nil
	}
	if abi, _ := landlockABI(); viaLibpsx && abi < abiThreads {
		return entered, nil
	}
	if err := landlock.V11.BestEffort().Restrict(); err != nil {
		return Layer{}, fmt.Errorf("landlock: %w", err)
	}
	entered.Detail += ", no files"
	return entered, nil
}

func probeLandlock() Layer {
	abi, err := landlockABI()
	if err == nil && viaLibpsx && abi < abiThreads {
		err = threadsVisible()
	}
	if err != nil {
		return Layer{Name: Landlock, Detail: err.Error()}
	}
	return Layer{Name: Landlock, On: true, Detail: fmt.Sprintf("ABI %d", abi)}
}

// landlockABI is the version in force, as the library counts: what kernels do with signals at version 6 is of use only
// with the correction that errata bit 1 tells of.
func landlockABI() (int, error) {
	abi, err := ll.LandlockGetABIVersion()
	switch err {
	case nil:
	case unix.ENOSYS:
		return 0, fmt.Errorf("the kernel does not have it")
	case unix.EOPNOTSUPP:
		return 0, fmt.Errorf("it is switched off when the kernel starts")
	default:
		return 0, fmt.Errorf("ask for its version: %w", err)
	}
	if errata, err := ll.LandlockGetErrata(); abi >= 6 && (err != nil || errata&2 == 0) {
		abi = 5
	}
	return min(abi, abiKnown), nil
}

// threadsVisible makes sure that libpsx finds this process's threads. It looks for them in /proc under the id that this
// process has for itself, which is somebody else's where /proc is of another namespace: it would wait for ever.
func threadsVisible() error {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("built with cgo it needs /proc: build wasmres with CGO_ENABLED=0: %w", err)
	}
	if self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("built with cgo it needs Landlock ABI %d, or a /proc of this process's own namespace: build wasmres with CGO_ENABLED=0", abiThreads)
	}
	return nil
}
