package secret

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// defaultWait is for a person to find the password.
const defaultWait = time.Minute

// Keyring is an entry of the operating system's keyring, without a line end at its end: the Keychain of macOS, the
// Credential Manager of Windows, or on Linux what answers for the Secret Service on the session's D-Bus.
type Keyring struct {
	Service, User string
	// Wait is how long it may take, and with it the person who is asked to unlock it. 0 means a minute.
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
	go func() { // until there is an answer, if somebody waits for it or not
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
		return Value{}, fmt.Errorf("the keyring has not answered for %v: unlock it", wait)
	}
}

func (k Keyring) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return fmt.Errorf("the keyring has no entry for %q of service %q", k.User, k.Service)
	case strings.HasPrefix(err.Error(), "failed to unlock"):
		return errors.New("the keyring is locked, and was not unlocked")
	}
	return fmt.Errorf("no keyring can be asked here: %w: have the secret in a variable or a file", err)
}
