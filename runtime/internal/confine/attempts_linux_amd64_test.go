package confine_test

import (
	"encoding/binary"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// moreAttempts are the calls of this architecture that others do without, and its two other architectures.
func moreAttempts() []attempt {
	return []attempt{
		{name: "old open", entered: true, try: func(*spoils) error { return call(unix.SYS_OPEN) }},
		{name: "old creat", entered: true, try: func(*spoils) error { return call(unix.SYS_CREAT) }},
		{name: "old stat", entered: true, try: func(*spoils) error { return call(unix.SYS_STAT) }},
		{name: "old lstat", entered: true, try: func(*spoils) error { return call(unix.SYS_LSTAT) }},
		{name: "old readlink", entered: true, try: func(*spoils) error { return call(unix.SYS_READLINK) }},
		{name: "old rename", entered: true, try: func(*spoils) error { return call(unix.SYS_RENAME) }},
		{name: "old unlink", entered: true, try: func(*spoils) error { return call(unix.SYS_UNLINK) }},
		{name: "old rmdir", entered: true, try: func(*spoils) error { return call(unix.SYS_RMDIR) }},
		{name: "old mkdir", entered: true, try: func(*spoils) error { return call(unix.SYS_MKDIR) }},
		{name: "old getdents", entered: true, try: func(*spoils) error { return call(unix.SYS_GETDENTS, ^uintptr(0)) }},
		{name: "old fork", entered: true, try: func(*spoils) error { return fork(unix.SYS_FORK) }},
		{name: "old vfork", entered: true, rare: true, try: func(*spoils) error { return fork(unix.SYS_VFORK) }},
		{name: "arch_prctl", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_ARCH_PRCTL, 0x1002, 0) }},
		{name: "modify_ldt", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_MODIFY_LDT, 0) }},
		{name: "iopl", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_IOPL, 3) }},
		{name: "getpid of x32", entered: true, rare: true, want: unix.ENOSYS, try: func(*spoils) error {
			return call(unix.SYS_GETPID | 1<<30)
		}},
	}
}

// newInt80 makes a function that has the kernel do a getpid of i386, and gives its answer: the id or a negative error.
func newInt80() (func() int32, error) {
	const getpid = 20
	code := binary.LittleEndian.AppendUint32([]byte{0xb8}, getpid) // mov eax, 20
	code = append(code, 0xcd, 0x80, 0xc3)                          // int 0x80; ret
	page, err := anonymous(unix.PROT_READ | unix.PROT_WRITE)
	if err != nil {
		return nil, err
	}
	copy(page, code)
	entry := unsafe.Pointer(&page[0])
	function := &entry // a function of Go's is a pointer to the address of its code
	return *(*func() int32)(unsafe.Pointer(&function)), unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
}

func childInt80(args []string) error {
	int80, err := newInt80()
	if err != nil {
		return err
	}
	if err := reach(args[0]); err != nil {
		return err
	}
	debug.SetPanicOnFault(true)
	return tell(int80())
}

// The same numbers mean other calls there: what is write here is exit, and close is open.
func TestCallsOfI386AreRefused(t *testing.T) {
	machine(t, confine.Seccomp)
	var got int32
	if state := (child{args: []string{"int80", "none"}}).run(t, nil); !state.Success() {
		t.Skip("the kernel has no calls of i386")
	}
	for _, stage := range []string{"entered", "sealed"} {
		child{args: []string{"int80", stage}}.run(t, &got)
		if got != -int32(unix.EPERM) {
			t.Errorf("%s: got %d, want %v", stage, got, unix.EPERM)
		}
	}
}

func moreChildren() map[string]func([]string) error {
	return map[string]func([]string) error{"int80": childInt80}
}
