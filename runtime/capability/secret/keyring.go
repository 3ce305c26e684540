package secret

import (
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringTime is how long a keyring may take, and with it the person who is asked to unlock it.
const keyringTime = time.Minute

// Keyring is an entry of the operating system's keyring: the Keychain of macOS, the Credential Manager of Windows, or
// on Linux what answers for the Secret Service on the session's D-Bus.
type Keyring struct{ Service, User string }

// Secret implements [Source].
func (k Keyring) Secret() (Value, error) {
	type found struct {
		text string
		err  error
	}
	answer := make(chan found, 1)
	go func() {
		text, err := keyring.Get(k.Service, k.User)
		answer <- found{text, err}
	}()
	timer := time.NewTimer(keyringTime)
	defer timer.Stop()
	select {
	case f := <-answer:
		return New(f.text), k.explain(f.err)
	case <-timer.C:
		return Value{}, fmt.Errorf("the keyring has not answered for %v: unlock it", keyringTime)
	}
}

func (k Keyring) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return fmt.Errorf("the keyring has no entry for %q of service %q", k.User, k.Service)
	}
	return fmt.Errorf("the keyring cannot be asked: %w", err)
}
