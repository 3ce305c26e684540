package wasi

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

const (
	maxSubscriptions = 64
	subscriptionSize = 48
	eventSize        = 32
	typeClock        = 0
	flagAbsolute     = 1
)

// A subscription is one thing poll_oneoff waits for.
type subscription struct {
	userdata uint64
	kind     byte
	wait     time.Duration
	errno    uint32
}

// pollOneoff sleeps until the earliest clock fires or the call of the guest is cancelled. Descriptors are ready at
// once, with an error.
func pollOneoff(ctx context.Context, mem engine.Memory, host any, args []uint64) uint32 {
	count := uint32(args[2])
	if count == 0 || count > maxSubscriptions {
		return einval
	}
	table, ok := mem.Read(uint32(args[0]), count*subscriptionSize)
	if !ok {
		return efault
	}
	world := systemOf(host)
	subs := make([]subscription, count)
	for i := range subs {
		subs[i] = parseSubscription(table[i*subscriptionSize:], world)
	}
	waited := sleep(ctx, subs, world)
	events := make([]byte, 0, eventSize*len(subs))
	for _, s := range subs {
		if s.wait <= waited {
			events = s.appendEvent(events)
		}
	}
	fired := uint32(len(events) / eventSize)
	return errnoOf(mem.Write(uint32(args[1]), events) && putUint32(mem, uint32(args[3]), fired))
}

func parseSubscription(b []byte, world System) subscription {
	s := subscription{userdata: binary.LittleEndian.Uint64(b), kind: b[8]}
	if s.kind != typeClock {
		s.errno = ebadf
		return s
	}
	clock := Clock(binary.LittleEndian.Uint32(b[16:]))
	if clock > Monotonic {
		s.errno = einval
		return s
	}
	timeout := binary.LittleEndian.Uint64(b[24:])
	if binary.LittleEndian.Uint16(b[40:])&flagAbsolute != 0 {
		now := world.Now(clock)
		timeout = max(timeout, now) - now
	}
	s.wait = time.Duration(min(timeout, uint64(time.Hour))) // every call ends before that
	return s
}

// sleep waits for the shortest subscription and says how long that is.
func sleep(ctx context.Context, subs []subscription, world System) time.Duration {
	shortest := subs[0].wait
	for _, s := range subs[1:] {
		shortest = min(shortest, s.wait)
	}
	if shortest > 0 {
		world.Sleep(ctx, shortest)
	}
	return shortest
}

func (s subscription) appendEvent(b []byte) []byte {
	event := make([]byte, eventSize)
	binary.LittleEndian.PutUint64(event, s.userdata)
	binary.LittleEndian.PutUint16(event[8:], uint16(s.errno))
	event[10] = s.kind
	return append(b, event...)
}
