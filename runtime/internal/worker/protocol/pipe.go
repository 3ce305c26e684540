package protocol

import "sync/atomic"

const (
	// pipeSize is how many bytes a pipe holds, a power of two. Messages that do not fit take the socket.
	pipeSize = 16 << 10
	// pipesSize is the size of the two pipes of a link, with a page for their words, in bytes.
	pipesSize = 4<<10 + 2*pipeSize
)

// The words of a pipe, as offsets from the first. Each has a cache line of its own.
const (
	wordHead = iota * 64
	wordTail
	wordAsleep
	wordsOfPipe
)

// A pipe is a stream of bytes in memory that two processes share: one writes, the other reads. head and tail count the bytes
// that were ever written and read, modulo 2^32. Either process keeps its own count for itself, and believes the other one's
// no more than that the two are at most pipeSize apart: whatever is in the memory, it touches nothing else.
//
// asleep is 1 while the reader sleeps until a byte comes by the socket. The writer that finds it 1 clears it, and sends that
// byte.
type pipe struct {
	head, tail, asleep *atomic.Uint32
	data               []byte // of pipeSize
	at                 uint32 // the count of this process
}

// write writes parts of the stream, and returns false if there is no room. It keeps room for one header, which
// writeSwitch takes.
func (p *pipe) write(b []byte) (ok bool, err error) {
	room, err := p.room()
	if err != nil || len(b)+headerSize > room {
		return false, err
	}
	p.append(b)
	return true, nil
}

// writeSwitch writes the last message before those of the socket.
func (p *pipe) writeSwitch() error {
	room, err := p.room()
	if err == nil && room < headerSize {
		err = Errorf("%d bytes of room in a pipe, where %d are kept", room, headerSize)
	}
	if err != nil {
		return err
	}
	p.append(appendHeader(nil, KindSwitch, 0, 0))
	return nil
}

// room returns for how many bytes there is room, of which the reader has the last word.
func (p *pipe) room() (int, error) {
	unread := p.at - p.tail.Load()
	if unread > pipeSize {
		return 0, Errorf("%d bytes of a pipe are unread, which holds %d", unread, pipeSize)
	}
	return int(pipeSize - unread), nil
}

// isFreeFor reports whether nothing is unread, and there is room for twice as many bytes as the n that come next.
func (p *pipe) isFreeFor(n int) (bool, error) {
	room, err := p.room()
	return room == pipeSize && n <= pipeSize/2, err
}

func (p *pipe) append(b []byte) {
	n := copy(p.data[p.at%pipeSize:], b)
	copy(p.data, b[n:])
	p.at += uint32(len(b))
	p.head.Store(p.at)
}

// read copies what has come, at most len(b) bytes; 0 if nothing has.
func (p *pipe) read(b []byte) (int, error) {
	come := p.head.Load() - p.at
	if come > pipeSize {
		return 0, Errorf("%d bytes have come in a pipe, which holds %d", come, pipeSize)
	}
	b = b[:min(len(b), int(come))]
	if len(b) == 0 {
		return 0, nil
	}
	n := copy(b, p.data[p.at%pipeSize:])
	copy(b[n:], p.data)
	p.at += uint32(len(b))
	p.tail.Store(p.at)
	return len(b), nil
}

// fallAsleep reports whether the reader must wait for a byte of the socket: nothing has come, or the writer sends that byte
// already.
func (p *pipe) fallAsleep() bool {
	p.asleep.Store(1)
	return p.head.Load() == p.at || !p.asleep.CompareAndSwap(1, 0)
}

// wake reports whether the reader sleeps and must be sent a byte.
func (p *pipe) wake() bool { return p.asleep.Load() != 0 && p.asleep.CompareAndSwap(1, 0) }

// pipes are the two pipes of a link, as one process has them.
type pipes struct {
	in, out pipe
	yields  int // how often its reader lets other goroutines run before it sleeps

	inputPiped  bool        // the next message is in the pipe; owned by the goroutine that reads
	early       []byte      // bytes of the socket that come after the next switch; owned by the goroutine that reads
	sleeps      uint        // so far; owned by the goroutine that reads
	idleBells   int         // since bytes came in the pipe; owned by the goroutine that reads
	outputPiped bool        // the next message goes into the pipe; guarded by Conn.sending
	isShared    atomic.Bool // the other process uses the pipes, too
}
