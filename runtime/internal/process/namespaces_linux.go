package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// overflowUID is the user of a child in a user namespace of its own: not root, so that it starts without capabilities.
const overflowUID = 65534

// namespaceKinds lists the namespaces that are worth their time. A mount namespace is not among them: without capabilities a
// child cannot change it, and what it may open is for Landlock to say.
func namespaceKinds() []struct {
	name string
	kind kinds
} {
	return []struct {
		name string
		kind kinds
	}{
		{"user", unix.CLONE_NEWUSER}, // first, since it brings the right to the others
		{"pid", unix.CLONE_NEWPID},
		{"net", unix.CLONE_NEWNET},
		{"ipc", unix.CLONE_NEWIPC},
		{"uts", unix.CLONE_NEWUTS},
	}
}

// probeNamespaces are all namespaces, and the report that there are.
func probeNamespaces() (permitted kinds, all []Namespace) {
	for _, n := range namespaceKinds() {
		permitted |= n.kind
		all = append(all, Namespace{Kind: n.name})
	}
	return permitted, all
}

// ask finds out which namespaces this machine permits: all, or as many as go together.
func ask() (permitted kinds, all []Namespace) {
	permitted, all = probeNamespaces()
	if try(permitted) == nil {
		return permitted, all
	}
	permitted = 0
	for i, n := range namespaceKinds() {
		if err := try(permitted | n.kind); err != nil {
			all[i].Err = fmt.Errorf("no %s namespace: %w%s", n.name, err, hint(n.name))
			continue
		}
		permitted |= n.kind
	}
	return permitted, all
}

// try starts a program that cannot be, below a file, with the namespaces. That this is what fails, after all else has
// been done, shows that they are permitted.
func try(set kinds) error {
	_, err := syscall.ForkExec(ownProgram+"/x", []string{""}, &syscall.ProcAttr{Sys: attributes(set)})
	if errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// isTransient reports whether an error may be gone the next time.
func isTransient(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// hint names the switch of this machine that forbids a kind of namespace, if there is one.
func hint(kind string) string {
	for _, s := range []struct{ file, forbids string }{
		{"/proc/sys/user/max_" + kind + "_namespaces", "0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0"},             // Debian
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"}, // Ubuntu
	} {
		if text, err := os.ReadFile(s.file); err == nil && strings.TrimSpace(string(text)) == s.forbids {
			return fmt.Sprintf(" (%s is %s)", s.file, s.forbids)
		}
	}
	return ""
}

// attributes are those of every child. Its group is its own. Its session is ours: Linux shares the processor out by
// sessions first, and one with a busy child would keep this process waiting for many times as long.
func attributes(set kinds) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: uintptr(set)}
	if set&unix.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: overflowUID, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: overflowUID, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}
