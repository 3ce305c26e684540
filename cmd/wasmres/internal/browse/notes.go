package browse

import (
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// A noted is a line of the log, of wasmres or the guest.
type noted string

// notes is the output of the log while the screen belongs to the viewer, which shows the newest line.
type notes struct {
	mu   sync.Mutex
	send func(tea.Msg) // guarded by mu; nil until the viewer runs
}

// Write takes one record. It is printable.
func (n *notes) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	n.mu.Lock()
	send := n.send
	n.mu.Unlock()
	if send != nil {
		go send(noted(line)) // the viewer may be waiting for what logs
	}
	return len(p), nil
}

// show has later records sent to the viewer.
func (n *notes) show(send func(tea.Msg)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.send = send
}
