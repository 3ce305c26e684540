package systemd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/coreos/go-systemd/v22/journal"
)

// maxStatus bounds the text of a status, in bytes.
const maxStatus = 512

// Ready tells the manager that the server serves, at its start or after [Reloading], and what "systemctl status" shows.
// An error of this and of the following functions says that the manager could not be told; the server goes on without.
func Ready(status string) error { return notify(daemon.SdNotifyReady, statusLine(status)) }

// Reloading tells the manager that the server is reading its configuration again. Ready ends it.
func Reloading() error {
	return notify(daemon.SdNotifyReloading, strings.TrimSpace(daemon.SdNotifyMonotonicUsec()))
}

// Stopping tells the manager that the server ends.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Main tells the manager that this process is the main one of the unit from now on, after it has taken over the server of another
// process. The unit needs NotifyAccess=all.
func Main() error { return notify(fmt.Sprintf("MAINPID=%d", os.Getpid())) }

// Status changes what "systemctl status" shows.
func Status(status string) error { return notify(statusLine(status)) }

// statusLine returns the assignment of a status, which has one line.
func statusLine(status string) string {
	status = strings.Join(strings.Fields(status), " ")
	return "STATUS=" + strings.ToValidUTF8(status[:min(len(status), maxStatus)], "")
}

// notify sends assignments in one datagram.
func notify(assignments ...string) error {
	if _, err := daemon.SdNotify(false, strings.Join(assignments, "\n")); err != nil {
		return fmt.Errorf("tell the service manager %s: %w", assignments[0], err)
	}
	return nil
}

// StderrIsJournal reports whether what the process writes on standard error goes to the journal, which reads the priority of a line from
// its beginning, as in "<4>text" (sd-daemon(3)).
func StderrIsJournal() bool {
	is, err := journal.StderrIsJournalStream()
	return is && err == nil
}

// Watch tells the manager that the server lives, twice in each time that WatchdogSec= of its unit names, until ctx ends.
// It asks alive before, and tells nothing while alive is false; the manager then ends the server. Watch returns at once
// where the unit has no watchdog.
func Watch(ctx context.Context, alive func() bool) error {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("read WATCHDOG_USEC and WATCHDOG_PID of the service manager: %w", err)
	}
	if every <= 0 {
		return nil
	}
	tick := time.NewTicker(max(every/2, time.Millisecond))
	defer tick.Stop()
	for ctx.Err() == nil {
		if alive() {
			if err := notify(daemon.SdNotifyWatchdog); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}
