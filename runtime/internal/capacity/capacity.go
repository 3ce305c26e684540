// Package capacity says how many workers the limits of this machine allow: descriptors, processes and threads, namespaces
// and memory, also those of the control groups of this process. It changes nothing.
package capacity

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Each is what one more worker needs, and what no worker may have. The figures are measured, rounded up.
type Each struct {
	Descriptors         uint64 // in the parent
	Threads             uint64 // in both processes
	Memory              uint64 // bytes
	ReservedDescriptors uint64 // in the parent
	ReservedMemory      uint64 // bytes, at most half of what is free
}

// A Bound is one limit of the machine.
type Bound struct {
	Name    string // of the limit, as in "open files"
	Free    uint64 // what is not used yet, in its unit, without reserved descriptors
	Workers int    // that fit into Free, without reserved memory

	IsMemory bool // Free is bytes
}

// OpenFiles is the name of the limit of descriptors.
const OpenFiles = "open files"

// maxFile bounds what is read of a file.
const maxFile = 64 << 10

// Bounds returns the limits that it can read below root, the tightest first: root has the directories proc and sys of a
// running Linux system. It returns none on other systems.
func Bounds(root fs.FS, each Each) []Bound {
	m := machine{root: root}
	total := m.threads()
	free := less(m.processLimit("Max open files"), m.count("proc/self/fd"))
	m.add(OpenFiles, less(free, each.ReservedDescriptors), each.Descriptors)
	if !m.isRoot() { // whom this limit does not bind
		m.add("processes of the user", less(m.processLimit("Max processes"), total), each.Threads)
	}
	m.add("process numbers (kernel.pid_max)", less(m.number("proc/sys/kernel/pid_max"), total), each.Threads)
	m.add("threads (kernel.threads-max)", less(m.number("proc/sys/kernel/threads-max"), total), each.Threads)
	for _, kind := range []string{"user", "pid", "net", "ipc", "uts"} {
		m.add(kind+" namespaces (user.max_"+kind+"_namespaces)", m.number("proc/sys/user/max_"+kind+"_namespaces"), 1)
	}
	m.addMemory("memory of the machine", m.availableMemory(), each)
	for _, dir := range m.groups("pids") {
		m.add("processes of the control group", less(m.number(dir+"/pids.max"), m.number(dir+"/pids.current")), each.Threads)
	}
	for _, dir := range m.groups("memory") {
		m.addMemory("memory of the control group", m.groupMemory(dir), each)
	}
	slices.SortStableFunc(m.bounds, func(a, b Bound) int { return a.Workers - b.Workers })
	return m.tightest()
}

// unknown is a number that cannot be read, or does not bind.
const unknown = math.MaxUint64

// less subtracts what is used from a limit.
func less(limit, used uint64) uint64 {
	switch {
	case limit == unknown:
		return unknown
	case used == unknown:
		return limit
	}
	return limit - min(limit, used)
}

// A machine is read from its files.
type machine struct {
	root   fs.FS
	bounds []Bound
}

// add adds a limit unless it is unknown.
func (m *machine) add(name string, free, each uint64) {
	if free != unknown && each > 0 {
		m.bounds = append(m.bounds, Bound{Name: name, Free: free, Workers: workers(free, each)})
	}
}

// addMemory is add for memory, of which workers may not have what is reserved.
func (m *machine) addMemory(name string, free uint64, each Each) {
	if free != unknown && each.Memory > 0 {
		m.bounds = append(m.bounds, Bound{Name: name, Free: free, Workers: workers(free-min(each.ReservedMemory, free/2), each.Memory), IsMemory: true})
	}
}

func workers(free, each uint64) int { return int(min(free/each, math.MaxInt32)) }

// tightest returns the first bound of each name.
func (m *machine) tightest() []Bound {
	seen := map[string]bool{}
	return slices.DeleteFunc(m.bounds, func(b Bound) bool {
		again := seen[b.Name]
		seen[b.Name] = true
		return again
	})
}

// read returns a file; nil if it cannot be read.
func (m *machine) read(name string) []byte {
	f, err := m.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return text
}

// number returns the number that a file consists of. "max" is unknown, as any other text.
func (m *machine) number(name string) uint64 { return parse(string(m.read(name))) }

func parse(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return unknown
	}
	return n
}

// count returns how many entries a directory has.
func (m *machine) count(dir string) uint64 {
	entries, err := fs.ReadDir(m.root, dir)
	if err != nil {
		return unknown
	}
	return uint64(len(entries))
}

// field returns the first word behind a prefix, in the first line of a file that has it.
func (m *machine) field(file, prefix string) uint64 {
	lines := bufio.NewScanner(bytes.NewReader(m.read(file)))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			return parse(first(strings.Fields(rest)))
		}
	}
	return unknown
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// processLimit returns a soft limit of this process.
func (m *machine) processLimit(name string) uint64 { return m.field("proc/self/limits", name) }

// isRoot reports whether this process belongs to root.
func (m *machine) isRoot() bool { return m.field("proc/self/status", "Uid:") == 0 }

// threads returns how many threads the system has: "0.00 0.01 0.05 1/152 1234" has 152.
func (m *machine) threads() uint64 {
	_, rest, _ := strings.Cut(string(m.read("proc/loadavg")), "/")
	return parse(first(strings.Fields(rest)))
}

// availableMemory returns the memory that new processes can have without swapping, in bytes.
func (m *machine) availableMemory() uint64 {
	kib := m.field("proc/meminfo", "MemAvailable:")
	if kib > unknown>>10 {
		return unknown
	}
	return kib << 10
}

// groupMemory returns what a control group may use beyond what it uses, without files it has read, in bytes. Names are
// those of version 2, or of version 1.
func (m *machine) groupMemory(dir string) uint64 {
	limit, used, idle := m.number(dir+"/memory.max"), m.number(dir+"/memory.current"), m.field(dir+"/memory.stat", "inactive_file ")
	if used == unknown {
		limit, used, idle = m.number(dir+"/memory.limit_in_bytes"), m.number(dir+"/memory.usage_in_bytes"), m.field(dir+"/memory.stat", "total_inactive_file ")
	}
	if limit >= 1<<62 { // how version 1 says that there is no limit
		return unknown
	}
	if idle != unknown {
		used -= min(used, idle)
	}
	return less(limit, used)
}

// groups returns the directories of the control groups of this process for one controller, from its own to the one
// above all.
func (m *machine) groups(controller string) (dirs []string) {
	lines := bufio.NewScanner(bytes.NewReader(m.read("proc/self/cgroup")))
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), ":", 3) // number, controllers, path
		if len(parts) < 3 {
			continue
		}
		switch {
		case parts[1] == "":
			dirs = append(dirs, above("sys/fs/cgroup", parts[2])...)
		case slices.Contains(strings.Split(parts[1], ","), controller):
			dirs = append(dirs, above("sys/fs/cgroup/"+controller, parts[2])...)
		}
	}
	return dirs
}

// above returns a directory below a mount point and those above it. In a container, the directory may not be there.
func above(mount, dir string) (dirs []string) {
	for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
		dirs = append(dirs, path.Join(mount, dir))
		if dir == "/" {
			return dirs
		}
	}
}
