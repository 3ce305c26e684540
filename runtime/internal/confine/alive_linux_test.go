package confine_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// belongings are what a worker has when it is sealed.
type belongings struct {
	near, far *net.UnixConn
	memfd     int
	image     *snapshot.Image
	memory    *snapshot.Memory
}

func newBelongings() (b *belongings, err error) {
	best, _ := snapshot.Probe() // which opens what it needs
	b = &belongings{}
	if b.near, b.far, err = connections(); err != nil {
		return nil, err
	}
	if b.memfd, err = unix.MemfdCreate("belongings", unix.MFD_ALLOW_SEALING|unix.MFD_CLOEXEC); err != nil {
		return nil, err
	}
	if b.image, err = snapshot.New(make([]byte, 4<<20), snapshot.Config{Limit: 8 << 20, Method: best}); err != nil {
		return nil, err
	}
	b.memory, err = b.image.Memory()
	return b, err
}

func connections() (near, far *net.UnixConn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if near, err = connection(fds[0]); err == nil {
		far, err = connection(fds[1])
	}
	return near, far, err
}

func connection(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}

// A need is something a sealed process must still be able to do.
type need struct {
	name string
	do   func(b *belongings) error
}

func needs() []need {
	return []need{
		{"threads", func(*belongings) error { return manyThreads(50) }},
		{"collect garbage", func(*belongings) error { goruntime.GC(); debug.FreeOSMemory(); return nil }},
		{"grow the heap", func(*belongings) error { return growHeap(96 << 20) }},
		{"timers", func(*belongings) error { return awaitTimer() }},
		{"stop a busy loop", func(*belongings) error { return stopBusyLoop() }},
		{"chance", func(*belongings) error { return discard(rand.Read(make([]byte, 64))) }},
		{"a trap of the processor", func(*belongings) error { return recoverFault() }},
		{"talk", func(b *belongings) error { return talk(b.near, b.far) }},
		{"wait for a message and give up", func(b *belongings) error { return waitInVain(b.near) }},
		{"be given a descriptor", beGiven},
		{"fill and seal a file in memory", fillAndSeal},
		{"map and unmap", mapAndUnmap},
		{"advise", adviseMemory},
		{"reset a memory", resetMemory},
		{"another memory of the image", anotherMemory},
		{"a blank memory", func(*belongings) error {
			m, err := snapshot.Blank(64<<20, 0)
			if err != nil {
				return err
			}
			m.Reallocate(1 << 20)[5] = 1
			return m.Release()
		}},
		{"panic and recover", func(*belongings) error { defer func() { _ = recover() }(); panic("x") }},
		{"stop talking", func(b *belongings) error {
			return errors.Join(b.near.CloseWrite(), b.near.Close(), b.far.Close(), b.memory.Release(), b.image.Close())
		}},
	}
}

// manyThreads has n goroutines on threads of their own at the same time.
func manyThreads(n int) error {
	var wg sync.WaitGroup
	var there sync.WaitGroup
	there.Add(n)
	for range n {
		wg.Go(func() {
			goruntime.LockOSThread() // and ends with the goroutine
			there.Done()
			there.Wait()
		})
	}
	wg.Wait()
	return nil
}

func growHeap(bytes int) error {
	var kept [][]byte
	for got := 0; got < bytes; got += 1 << 20 {
		b := make([]byte, 1<<20)
		for at := 0; at < len(b); at += 4096 {
			b[at] = 1
		}
		kept = append(kept, b)
	}
	if len(kept) != bytes>>20 {
		return errors.New("lost some")
	}
	return nil
}

func awaitTimer() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	return nil
}

// stopBusyLoop collects garbage while a loop without a call runs, which only a signal interrupts.
func stopBusyLoop() error {
	var stop atomic.Bool
	begun := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		close(begun)
		for n := uint64(1); ; n = n*3 + 1 {
			if n%1_000_003 == 0 && stop.Load() {
				return
			}
		}
	})
	<-begun
	for range 5 {
		goruntime.GC()
	}
	stop.Store(true)
	wg.Wait()
	return nil
}

func recoverFault() (err error) {
	defer func() {
		if recover() == nil {
			err = errors.New("no fault")
		}
	}()
	var nothing *[8]int
	nothing[goruntime.NumCPU()%8] = 1
	return nil
}

func talk(near, far *net.UnixConn) error {
	answer := make(chan error, 1)
	go func() {
		b := make([]byte, 5)
		_, err := io.ReadFull(far, b)
		if err == nil && string(b) != "hello" {
			err = fmt.Errorf("got %q", b)
		}
		answer <- err
	}()
	_, err := io.WriteString(near, "hello")
	return errors.Join(err, <-answer)
}

func waitInVain(c *net.UnixConn) error {
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return err
	}
	_, err := c.Read(make([]byte, 1))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("got %v, want a timeout", err)
	}
	return c.SetReadDeadline(time.Time{})
}

func beGiven(b *belongings) error {
	if _, _, err := b.far.WriteMsgUnix([]byte{1}, unix.UnixRights(b.memfd), nil); err != nil {
		return err
	}
	oob := make([]byte, 64)
	_, n, _, _, err := b.near.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	return errors.Join(unix.Fstat(fds[0], new(unix.Stat_t)), unix.Close(fds[0]))
}

func fillAndSeal(b *belongings) error {
	if err := unix.Ftruncate(b.memfd, 1<<20); err != nil {
		return err
	}
	if _, err := unix.Pwrite(b.memfd, []byte("hello"), 4096); err != nil {
		return err
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(b.memfd), unix.F_ADD_SEALS, seals); err != nil {
		return err
	}
	return discard(unix.FcntlInt(uintptr(b.memfd), unix.F_GET_SEALS, 0))
}

func mapAndUnmap(b *belongings) error {
	m, err := unix.Mmap(b.memfd, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	m[0] = 1
	return errors.Join(unix.Mprotect(m, unix.PROT_READ), unix.Mprotect(m, unix.PROT_NONE), unix.Munmap(m))
}

func adviseMemory(*belongings) error {
	m, err := anonymous(unix.PROT_READ | unix.PROT_WRITE)
	if err != nil {
		return err
	}
	for _, advice := range []int{unix.MADV_NOHUGEPAGE, unix.MADV_POPULATE_WRITE, unix.MADV_DONTNEED} {
		if err := unix.Madvise(m, advice); err != nil && err != unix.EINVAL { // which a kernel does not know
			return fmt.Errorf("advice %d: %w", advice, err)
		}
	}
	return nil
}

func resetMemory(b *belongings) error {
	mem := b.memory.Reallocate(0)
	mem[70_000] = 7
	if err := b.memory.Reset(nil); err != nil {
		return err
	}
	if mem[70_000] != 0 {
		return errors.New("the memory is not as before")
	}
	return nil
}

func anotherMemory(b *belongings) error {
	m, err := b.image.Memory()
	if err != nil {
		return err
	}
	m.Reallocate(0)[1] = 1
	return m.Release()
}

func childAlive([]string) error {
	b, err := newBelongings()
	if err != nil {
		return err
	}
	layers, err := confine.Enter(confine.Profile{Memory: 2 << 30, FileSize: 64 << 20, CPU: time.Minute})
	if err == nil {
		_, err = confine.Seal(layers)
	}
	if err != nil {
		return err
	}
	outcomes := map[string]string{}
	for _, n := range needs() {
		outcomes[n.name] = "ok"
		if err := n.do(b); err != nil {
			outcomes[n.name] = err.Error()
		}
	}
	return tell(outcomes)
}

func TestWhatIsLeft(t *testing.T) {
	var outcomes map[string]string
	child{args: []string{"alive"}}.run(t, &outcomes)
	for _, n := range needs() {
		t.Run(n.name, func(t *testing.T) {
			if got := outcomes[n.name]; got != "ok" {
				t.Errorf("got %q, want it to work", got)
			}
		})
	}
}
