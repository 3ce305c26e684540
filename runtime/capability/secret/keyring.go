package secret

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// defaultWait leaves the user time to find the password.
const defaultWait = time.Minute

// Keyring is an entry of the operating system's keyring: of the Keychain of macOS, of the Credential Manager of Windows,
// or, on Linux, of the Secret Service on the session's D-Bus. A line end at its end is not part of the secret.
type Keyring struct {
	Service, User string
	// Wait bounds the time of a request to the keyring, including the time in which the user unlocks it. 0 means one
	// minute.
	Wait time.Duration
}

// Secret implements [Source].
func (k Keyring) Secret() (Value, error) {
	if err := checkBus(); err != nil {
		return Value{}, k.explain(err)
	}
	type found struct {
		text string
		err  error
	}
	answer := make(chan found, 1)
	go func() { // ends with the answer, also after Secret has returned
		text, err := keyring.Get(k.Service, k.User)
		answer <- found{text, err}
	}()
	wait := cmp.Or(k.Wait, defaultWait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case f := <-answer:
		return New(withoutLineEnd(f.text)), k.explain(f.err)
	case <-timer.C:
		return Value{}, fmt.Errorf("the keyring has not answered within %v: unlock it", wait)
	}
}

func (k Keyring) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return fmt.Errorf("the keyring has no entry for %q of service %q", k.User, k.Service)
	case strings.HasPrefix(err.Error(), "failed to unlock"):
		return errors.New("the keyring is locked: unlock it and try again")
	}
	return fmt.Errorf("keyring not available: %w: use an environment variable or a file instead", err)
}
