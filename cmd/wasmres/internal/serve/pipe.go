package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveBrokenPipes makes writes to a closed standard output or standard error fail; otherwise they end the process. A
// client may close both before the program has logged its end. stop restores the default.
func surviveBrokenPipes() (stop func()) {
	broken := make(chan os.Signal, 1) // a signal that a program receives does not end it
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}
