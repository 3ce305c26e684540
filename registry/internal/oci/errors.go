package oci

import (
	"errors"
	"fmt"
)

// What the errors of a [Source] are, beside [ErrNotFound].
var (
	// ErrUnauthorized says that a registry does not permit what was asked for.
	ErrUnauthorized = errors.New("not permitted")
	// ErrInterrupted says that a connection broke or a registry was busy: the same call may succeed later.
	ErrInterrupted = errors.New("interrupted")
)

// A MismatchError says that the bytes of a manifest or blob are not those that its descriptor names.
type MismatchError struct {
	Want Digest
	Size int64  // that it has; negative if it is only known to be more than its descriptor says
	Got  Digest // empty if the size alone is wrong
}

func (m *MismatchError) Error() string {
	switch {
	case m.Got != "":
		return fmt.Sprintf("the bytes have the digest %s, not %s: they were changed: do not use them", m.Got, m.Want)
	case m.Size < 0:
		return fmt.Sprintf("%s has more bytes than its descriptor says: do not use it", m.Want)
	}
	return fmt.Sprintf("%s has %d bytes, not as many as its descriptor says: do not use it", m.Want, m.Size)
}
