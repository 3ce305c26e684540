package process_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// systemMain reports whether this process is one that does not call Main, or calls it too late.
func systemMain() bool {
	if program, err := os.Readlink("/proc/self/exe"); err == nil && os.Args[0] == process.ForkServerName {
		lie(filepath.Base(program))
	}
	return os.Getenv("UNSERVED") != ""
}

// lie is what fork servers do that are not what they should be, by the names of their programs.
func lie(program string) {
	answer := ""
	switch program {
	case "forks-not":
	case "forks-nonsense":
		answer = "nonsense"
	case "forks-refusing":
		answer = `{"err": "it does not want to"}`
	default:
		return
	}
	_, err := unix.Read(3, make([]byte, 1<<16))
	check(err)
	_, err = unix.Write(3, []byte(answer))
	check(err)
	os.Exit(3)
}

func systemRole(name string) func() {
	name, argument, _ := strings.Cut(name, " ")
	switch name {
	case "report":
		return func() { check(json.NewEncoder(os.Stdout).Encode(observe())) }
	case "null":
		return func() {
			if opened(0) != os.DevNull || opened(1) != os.DevNull || opened(2) != os.DevNull {
				os.Exit(1)
			}
		}
	case "burn":
		return burn
	case "read":
		return func() {
			text, err := os.ReadFile(argument)
			check(err)
			write(os.Stdout, string(text))
		}
	case "middle":
		return func() {
			child, program, _ := strings.Cut(argument, " ")
			middle(child, program)
		}
	case "many":
		return many
	case "twice":
		return func() {
			for range 2 {
				p, err := process.Start(process.Config{Name: "exit", Namespaces: process.ForkServer() != 0})
				if err != nil {
					fmt.Println(err)
					continue
				}
				fmt.Println(p.End())
			}
		}
	case "fork", "forksession":
		return func() { fork(name == "forksession", argument == "wait") }
	case "refuse":
		return func() { refuse(strings.Fields(argument)) }
	}
	return nil
}

// check ends a child that has met an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A view is what a child sees of itself.
type view struct {
	Args, Env   []string
	Dir         string
	Descriptors []string // but those of its own Go runtime
	UID, GID    int
	Leader      bool // of a group
	Status      map[string]string
	Namespaces  map[string]string
	SetGroups   string
}

func observe() view {
	v := view{Args: os.Args, Env: os.Environ(), UID: os.Getuid(), GID: os.Getgid(), Namespaces: map[string]string{}, Status: map[string]string{}}
	for fd := range 4096 { // without opening any
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && !strings.HasPrefix(opened(fd), "/sys/fs/cgroup/") {
			v.Descriptors = append(v.Descriptors, strconv.Itoa(fd))
		}
	}
	v.Leader = unix.Getpgrp() == unix.Getpid()
	var err error
	v.Dir, err = os.Getwd()
	check(err)
	for _, kind := range []string{"user", "pid", "net", "ipc", "uts"} {
		v.Namespaces[kind], err = os.Readlink("/proc/self/ns/" + kind)
		check(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		v.Status[key] = strings.TrimSpace(value)
	}
	groups, err := os.ReadFile("/proc/self/setgroups")
	check(err)
	v.SetGroups = strings.TrimSpace(string(groups))
	return v
}

// opened names what a descriptor is of.
func opened(fd int) string {
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	check(err)
	return name
}

func burn() {
	for {
		var used unix.Rusage
		check(unix.Getrusage(unix.RUSAGE_SELF, &used))
		if used.Utime.Sec > 0 || used.Utime.Usec > 50_000 {
			return
		}
	}
}

// middle starts a child, which waits and holds descriptor 3, and waits too.
func middle(child, program string) {
	if os.Getenv("FORKSERVER") != "" && process.ForkServer() == 0 {
		panic("no fork server")
	}
	_, err := process.Start(process.Config{
		Executable: program,
		Name:       child,
		Files:      []*os.File{os.NewFile(3, "held")},
		Stdout:     os.Stdout,
		Namespaces: os.Getenv("NAMESPACES") != "",
	})
	check(err)
	time.Sleep(time.Hour)
}

// many starts children one after another, and tells after each how many it has left.
func many() {
	for range 10 {
		p, err := process.Start(process.Config{Name: "exit", Namespaces: true})
		check(err)
		if e := p.End(); e.Status != 7 {
			panic(e)
		}
		left, err := childrenOf(os.Getpid())
		check(err)
		fmt.Print(len(left))
	}
}

// fork starts a grandchild, in this session or in its own, and waits, or ends when the grandchild is there.
func fork(session, stay bool) {
	r, w, err := os.Pipe()
	check(err)
	grandchild := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"wait"}, Env: []string{}, Stdout: w,
		ExtraFiles: []*os.File{os.NewFile(3, "held")}, SysProcAttr: &syscall.SysProcAttr{Setsid: session},
	}
	check(grandchild.Start())
	_, err = r.Read(make([]byte, 1))
	check(err)
	write(os.Stdout, "x")
	if stay {
		time.Sleep(time.Hour)
	}
}

// refuse forbids kinds of namespaces from here on down, and tells what that does to children.
func refuse(kinds []string) {
	for _, kind := range kinds {
		check(os.WriteFile(filepath.Join("/proc/sys/user", "max_"+kind+"_namespaces"), []byte("0"), 0))
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	for range 3 {
		p, err := process.Start(process.Config{Name: "exit", Namespaces: true, Logger: logger})
		check(err)
		fmt.Println("child:", p.End())
	}
	for _, n := range process.Namespaces() {
		fmt.Println(n.Kind+":", n.Err)
	}
}
