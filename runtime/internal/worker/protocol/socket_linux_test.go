package protocol

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The moment between a reader's looking at its descriptor and using it cannot be met from outside.
func TestTheDescriptorLastsAsLongAsItIsUsed(t *testing.T) {
	c, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	isOpen := func() bool {
		_, err := unix.FcntlInt(uintptr(c.sock.fd), unix.F_GETFD, 0)
		return err == nil
	}
	const users = 2
	for range users {
		if !c.sock.enter() {
			t.Fatal("an open socket could not be entered")
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c.sock.enter() {
		t.Error("a closed socket could be entered")
	}
	for left := users; left > 0; left-- {
		if !isOpen() {
			t.Fatalf("closed with %d users", left)
		}
		if err := c.sock.leave(); err != nil {
			t.Fatal(err)
		}
	}
	if isOpen() {
		t.Error("not closed after the last user")
	}
}
