package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// overflowUID is the user of a child in its own user namespace. It is not root, so the child starts without
// capabilities.
const overflowUID = 65534

// namespaceKinds lists the namespaces in use. It has no mount namespace: without capabilities a child cannot change it,
// and Landlock restricts what the child may open.
func namespaceKinds() []struct {
	name string
	kind kinds
} {
	return []struct {
		name string
		kind kinds
	}{
		{"user", unix.CLONE_NEWUSER}, // first: it gives the right to create the others
		{"pid", unix.CLONE_NEWPID},
		{"net", unix.CLONE_NEWNET},
		{"ipc", unix.CLONE_NEWIPC},
		{"uts", unix.CLONE_NEWUTS},
	}
}

// probeNamespaces returns the permitted namespaces, and the report of all.
func probeNamespaces() (permitted kinds, all []Namespace) {
	for _, n := range namespaceKinds() {
		permitted |= n.kind
		all = append(all, Namespace{Kind: n.name})
	}
	return permitted, all
}

// ask finds the namespaces that this machine permits: all, or as many as work together.
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

// try starts a nonexistent program, below a file, with the namespaces. The kernel looks for the program last: that
// error shows that the namespaces are permitted.
func try(set kinds) error {
	_, err := syscall.ForkExec(ownProgram+"/x", []string{""}, &syscall.ProcAttr{Sys: attributes(set)})
	if errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// isTransient reports whether an error may be gone at the next try.
func isTransient(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// hint names the setting of this machine that forbids a kind of namespace; empty if there is none.
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

// attributes are those of every child. It has its own process group, but the session of this process: Linux divides the
// processors between sessions first, so a busy child in another session would delay this process much longer.
func attributes(set kinds) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: uintptr(set)}
	if set&unix.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: overflowUID, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: overflowUID, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}
