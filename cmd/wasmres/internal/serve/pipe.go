package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveBrokenPipes has writes to standard output and standard error fail where their reader is gone, instead of ending
// the process: a client may close both before the program has logged its end. stop ends that.
func surviveBrokenPipes() (stop func()) {
	broken := make(chan os.Signal, 1) // a signal that is asked for does not end the process
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}
