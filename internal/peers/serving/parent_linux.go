package main

import "syscall"

// dieWithParent has a process killed when this one has ended.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
