package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	forkServerName = "wasmres-forkserver"
	// forkable are the namespaces with which a fork server can start a child. Without a user namespace there is no need
	// for one. Without a pid namespace it cannot: Go kills a child that its own process has not started, and only the
	// first process of a pid namespace survives that.
	forkable = unix.CLONE_NEWUSER | unix.CLONE_NEWPID
)

// Main acts as a fork server and exits, if this process was started as one; otherwise it returns at once. Call it first
// in main: otherwise each process starts its children itself.
func Main() {
	isServed.Store(true)
	if len(os.Args) != 1 || os.Args[0] != forkServerName {
		return
	}
	Tie()
	conn, err := connect(os.NewFile(3, "socket"))
	if err == nil {
		err = serveForks(conn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveForks starts children until the parent closes its end.
func serveForks(conn *net.UnixConn) error {
	for {
		var order forkRequest
		fds, err := receive(conn, &order)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := json.Marshal(order.run(fds))
		if err != nil {
			return err
		}
		if err := send(conn, answer, nil); err != nil {
			return err
		}
	}
}

// run starts the child, and closes its descriptors here.
func (o forkRequest) run(fds []int) forkResult {
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	if len(fds) < 1 {
		return forkResult{Err: "no folder"}
	}
	attr := &syscall.ProcAttr{Dir: "/proc/self/fd/" + strconv.Itoa(fds[0]), Env: []string{}, Sys: o.attributes()}
	for _, variable := range o.Env {
		attr.Env = append(attr.Env, string(variable))
	}
	for _, fd := range fds[1:] {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pid, err := syscall.ForkExec(ownProgram, []string{string(o.Name)}, attr)
	if err != nil {
		return forkResult{Err: err.Error()}
	}
	return forkResult{PID: pid}
}

// attributes are those of every child, except that its parent is the process that asks.
func (o forkRequest) attributes() *syscall.SysProcAttr {
	attr := attributes(o.Namespaces)
	attr.Cloneflags |= unix.CLONE_PARENT
	return attr
}
