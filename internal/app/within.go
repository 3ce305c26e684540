package app

import (
	"fmt"
	"time"
)

// closeTime is how long closing one capability, or the sessions of clients, may take.
const closeTime = time.Second

// within runs f and gives its error. It waits no longer than d; then f runs on, and the error says that what has not
// ended.
func within(d time.Duration, what string, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(d):
		return fmt.Errorf("close: %s: not ended after %v", what, d)
	}
}
