package response

import (
	"net/http"
	"time"
)

// Time limits for a client to receive a write. Each MinRate bytes of a large write add a second.
const (
	AnswerTimeout = 30 * time.Second
	GuestTimeout  = 5 * time.Second // of a write that a guest waits for
	MinRate       = 64 << 10        // bytes a second
)

// Timeout returns how long a client may take to receive size bytes; base is the limit for a few bytes.
func Timeout(size int, base time.Duration) time.Duration {
	return base + time.Duration(size/MinRate)*time.Second
}

// SetDeadline bounds the next writes of size bytes. It does nothing on a server without write deadlines.
func SetDeadline(control *http.ResponseController, size int, base time.Duration) {
	_ = control.SetWriteDeadline(time.Now().Add(Timeout(size, base)))
}

// ClearDeadline ends the effect of [SetDeadline].
func ClearDeadline(control *http.ResponseController) { _ = control.SetWriteDeadline(time.Time{}) }

// Abort makes a write fail that is under way, and all that follow until the next deadline is set. Any goroutine may call
// it.
func Abort(control *http.ResponseController) { _ = control.SetWriteDeadline(past) }

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// A Deadline is a read or write deadline of a connection. Setting one takes a system call that costs as much as a small
// request, so a Deadline is moved only when it must be. The zero Deadline is unknown. It belongs to one goroutine.
type Deadline struct{ at time.Time }

// Extend makes the deadline the given time from now, or up to an eighth of that earlier.
func (d *Deadline) Extend(set func(time.Time) error, by time.Duration) error {
	return d.ExtendFrom(time.Now(), set, by)
}

// ExtendFrom is Extend for a caller that knows the time.
func (d *Deadline) ExtendFrom(now time.Time, set func(time.Time) error, by time.Duration) error {
	if left := d.at.Sub(now); by*7/8 <= left && left <= by {
		return nil
	}
	return d.Set(set, now.Add(by))
}

// Set makes the deadline at.
func (d *Deadline) Set(set func(time.Time) error, at time.Time) error {
	if d.at.Equal(at) {
		return nil
	}
	d.at = at
	return set(at)
}

// Forget makes the deadline unknown. It is called when the deadline of the connection is set elsewhere.
func (d *Deadline) Forget() { d.at = time.Time{} }

// Clear removes the deadline from the connection, if it was set here.
func (d *Deadline) Clear(set func(time.Time) error) {
	if !d.at.IsZero() {
		_ = set(time.Time{}) // the next read or write of a broken connection fails too
	}
	d.at = time.Time{}
}
