package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/runtime/capability"
)

// closeTime is how long closing one capability, or the sessions of clients, may take.
const closeTime = time.Second

// within runs f and gives its error. After d it returns an error that says that what has not ended, and f runs on.
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

// closeAll closes capabilities, the last one first, each within closeTime.
func closeAll(all []capability.Capability) error {
	var errs []error
	for i := len(all) - 1; i >= 0; i-- {
		errs = append(errs, within(closeTime, fmt.Sprintf("%T", all[i]), all[i].Close))
	}
	return errors.Join(errs...)
}
