package confine

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// An rlimit is a limit of the process and its text in a report.
type rlimit struct {
	resource int
	value    uint64
	text     string
}

// limit sets the lasting limits. RLIMIT_NPROC counts the threads of all processes of the user, so limit sets it only
// for a process that is alone in its user namespace. It sets no limit on what seccomp denies anyway.
func limit(p Profile) (Layer, error) {
	limits := []rlimit{
		{unix.RLIMIT_CORE, 0, "no core dump"},
		{unix.RLIMIT_MEMLOCK, 0, "no locked memory"},
		{unix.RLIMIT_NOFILE, p.Files, fmt.Sprintf("%d descriptors", p.Files)},
		{unix.RLIMIT_FSIZE, p.FileSize, fmt.Sprintf("files of %d MiB", p.FileSize>>20)},
	}
	if s := p.seconds(); s > 0 {
		limits = append(limits, rlimit{unix.RLIMIT_CPU, s, fmt.Sprintf("%d s of processor time", s)})
	}
	if p.Threads > 0 {
		limits = append(limits, rlimit{unix.RLIMIT_NPROC, p.Threads, fmt.Sprintf("%d threads", p.Threads)})
	}
	if p.Memory > 0 || p.Data > 0 {
		reserved, data, err := addressSpace()
		if err != nil {
			return Layer{}, err
		}
		// In addition to the reserved address space: Go reserves a gigabyte that it does not use, the race detector
		// terabytes.
		space := "memory"
		if p.Data > 0 {
			limits = append(limits, rlimit{unix.RLIMIT_DATA, data + p.Data, fmt.Sprintf("%d MiB more memory", p.Data>>20)})
			space = "address space"
		}
		if p.Memory > 0 {
			limits = append(limits, rlimit{unix.RLIMIT_AS, reserved + p.Memory, fmt.Sprintf("%d MiB more %s", p.Memory>>20, space)})
		}
	}
	texts := make([]string, len(limits))
	for i, l := range limits {
		if err := setRlimit(l.resource, l.value); err != nil {
			return Layer{}, fmt.Errorf("set the limit of %s: %w", l.text, err)
		}
		texts[i] = l.text
	}
	if raiseOOMScore() == nil {
		texts = append(texts, "first to go when memory runs out")
	}
	return Layer{Name: Rlimits, On: true, Detail: strings.Join(texts, ", ")}, nil
}

// raiseOOMScore makes the kernel kill this process, and not its parent, when the machine is out of memory: the limits
// of several processes may add up to more than there is.
func raiseOOMScore() error { return os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// setRlimit sets a limit unless a lower one is inherited. Soft and hard are the same, since Go ignores the signals of soft
// limits.
func setRlimit(resource int, value uint64) error {
	var inherited unix.Rlimit
	if err := unix.Getrlimit(resource, &inherited); err != nil {
		return err
	}
	value = min(value, inherited.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}

// addressSpace returns how much address space this process has reserved, and how much of it is private and can be
// written, in bytes.
func addressSpace() (reserved, data uint64, err error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, err
	}
	var resident, shared, code, unused uint64
	if _, err := fmt.Sscan(string(text), &reserved, &resident, &shared, &code, &unused, &data); err != nil {
		return 0, 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	page := uint64(os.Getpagesize())
	return reserved * page, data * page, nil
}

// setUndumpable prevents other processes of this user, and core dumps, from reading the memory of this one.
func setUndumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("set not dumpable: %w", err)
	}
	return nil
}
