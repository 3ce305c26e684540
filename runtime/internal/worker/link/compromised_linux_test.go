package link_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

// A token marks all that belongs to one call. It has a checksum, so that no other is one by chance.
func token(call uint32) string {
	return fmt.Sprintf("T%08x%08x", call, crc32.ChecksumIEEE(binary.LittleEndian.AppendUint32(nil, call)))
}

// foreign returns a token in text that belongs to another call than own; empty for none.
func foreign(own string, text []byte) string {
	for at := bytes.IndexByte(text, 'T'); at >= 0; at = bytes.IndexByte(text, 'T') {
		text = text[at:]
		if bytes.HasPrefix(text, []byte(own)) {
			text = text[len(own):]
			continue
		}
		if found := text[:min(len(text), len(own))]; isToken(found) {
			return string(found)
		}
		text = text[1:]
	}
	return ""
}

func isToken(text []byte) bool {
	if len(text) < len(token(0)) {
		return false
	}
	call, err := strconv.ParseUint(string(text[1:9]), 16, 32)
	return err == nil && string(text) == token(uint32(call))
}

// messagesEnv says how many messages the compromised worker sends, seedEnv what they are made of.
const (
	messagesEnv = "WASMRES_MESSAGES"
	seedEnv     = "WASMRES_SEED"
)

func number(t *testing.T, name string, standard uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A compromised worker sends what it likes: mostly what the protocol allows, for a call of its own or of another.
type compromised struct {
	seed  uint64
	links atomic.Uint64
	sent  atomic.Uint64     // messages
	piped atomic.Uint64     // bytes that were sent by pipes
	codes [64]atomic.Uint64 // how many calls ended with each
}

func TestForeignTokensAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"": "", token(1): "", "TT" + token(1) + "T": "", token(1) + token(2): token(2), "T" + token(2): token(2),
		token(2)[:16]: "", token(2)[:16] + "x": "",
	} {
		if got := foreign(token(1), []byte(text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestACompromisedWorkerDoesNoHarm plays one against the parent. No call hangs, none gets what belongs to another, and
// the parent does not grow. By default it sends 100,000 messages.
func TestACompromisedWorkerDoesNoHarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second or more")
	}
	leavesNothing(t)
	w := &compromised{seed: number(t, seedEnv, rand.Uint64())}
	want := number(t, messagesEnv, 100_000)
	t.Logf("%s=%d %s=%d", seedEnv, w.seed, messagesEnv, want)
	host := &link.Host{Link: w.serve}
	m := load(t, host, provider.Config{
		Services: capability.Services{abi.ServiceConfig: capability.Config{"key": "value"}},
		Limits:   limits.Limits{Output: 1 << 20, Items: 100, Timeout: 500 * time.Millisecond, Log: 10_000},
	}, 1<<abi.OpRead|1<<abi.OpList|1<<abi.OpComplete)
	var ids atomic.Uint32
	run := func(until uint64) {
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for w.sent.Load() < until {
					w.check(t, m, ids.Add(1))
				}
			})
		}
		callers.Go(func() {
			for i := uint64(0); w.sent.Load() < until; i++ {
				w.play(t, host, i)
			}
		})
		callers.Wait()
	}
	run(want / 10)
	before := heap()
	for n := uint64(2); n <= 10; n++ {
		run(want / 10 * n)
		if now := heap(); now > before+8<<20 {
			t.Errorf("after %d messages the heap has %d KiB, at the start %d", w.sent.Load(), now>>10, before>>10)
		}
	}
	ends := map[string]uint64{}
	for code := range w.codes {
		if n := w.codes[code].Load(); n > 0 {
			ends[abi.Code(code).String()] = n
		}
	}
	if ends["ok"] == 0 || ends["unavailable"] == 0 {
		t.Errorf("calls ended as %v: some must be answered, and some must lose their worker", ends)
	}
	if w.piped.Load() == 0 {
		t.Error("no message was sent by a pipe")
	}
	t.Logf("calls ended as %v", ends)
	t.Logf("%d messages, %d bytes by pipes, %d links, %d calls, heap %d KiB and then %d", w.sent.Load(), w.piped.Load(), w.links.Load(), ids.Load(), before>>10, heap()>>10)
}

// heap returns the bytes in use.
func heap() uint64 {
	goruntime.GC()
	var s goruntime.MemStats
	goruntime.ReadMemStats(&s)
	return s.HeapAlloc
}

// check does one call, and looks for what belongs to another.
func (w *compromised) check(t *testing.T, m *provider.Provider, id uint32) {
	defer hangs()()
	own, op := token(id), []abi.Op{abi.OpRead, abi.OpRead, abi.OpList, abi.OpComplete}[id%4]
	var got sink
	reply, err := m.Call(t.Context(), op, &abi.Request{URI: "x:" + own}, &got)
	w.codes[abi.CodeOf(err)%64].Add(1)
	said := got.body
	for i := range got.heads {
		said = append(said, got.heads[i].URI+got.heads[i].ETag...)
	}
	if err != nil {
		said = append(said, err.Error()...)
	} else {
		said = reply.Append(said)
	}
	if other := foreign(own, said); other != "" {
		t.Errorf("%s %s got %s", op, own, other)
	}
	if got.size > 1<<20 || len(got.heads) > 100 {
		t.Errorf("got %d bytes in %d contents", got.size, len(got.heads))
	}
}

// play has another worker start, or report something, of which nothing good may come either.
func (w *compromised) play(t *testing.T, host *link.Host, i uint64) {
	defer hangs()()
	s := &speaker{worker: w, rng: rand.New(rand.NewPCG(w.seed, i<<32)), wild: 0.1}
	speak := func(kinds ...protocol.Kind) func(*os.File) {
		return func(socket *os.File) {
			s.socket = socket
			read := make(chan struct{})
			go func() {
				defer close(read)
				b := make([]byte, 4<<10)
				for n, err := 1, error(nil); n > 0 && err == nil; {
					n, err = socket.Read(b)
				}
			}()
			for range s.rng.IntN(50) {
				s.say(kinds[s.rng.IntN(len(kinds))], 0, token(0))
			}
			s.flush()
			_ = unix.Shutdown(int(socket.Fd()), unix.SHUT_WR)
			<-read
			_ = socket.Close()
		}
	}
	if i%2 == 0 {
		_ = host.Start(t.Context(), speak(protocol.KindFrame, protocol.KindLog, protocol.KindAsk, protocol.KindChanged, protocol.KindSealed, protocol.KindReady, protocol.KindFailed))
		return
	}
	if err := host.Log(speak(protocol.KindLog, protocol.KindLog, protocol.KindLog, protocol.KindDone)); err != nil {
		t.Error(err)
	}
}

// A call that has come on a link.
type came struct {
	number uint64
	token  string
}

// A speaker says things on a connection. It belongs to one goroutine.
type speaker struct {
	worker *compromised
	rng    *rand.Rand
	wild   float64 // how many messages break the protocol
	socket *os.File
	window []byte // nil for none
	at     int
	free   *atomic.Int64 // bytes of the window
	pipe   *pipeWriter   // nil to write to the socket
	out    []byte
	lied   bool // about where a message or a chunk ends: the parent takes what follows as part of it
	gone   bool // the parent has closed the connection
}

// serve answers the calls of a link.
func (w *compromised) serve(socket, window *os.File) {
	n := w.links.Add(1)
	rng := rand.New(rand.NewPCG(w.seed, n))
	shared, err := unix.Mmap(int(window.Fd()), 0, protocol.DefaultWindow, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	defer unix.Munmap(shared)
	pipe := newPipeWriter(window)
	defer pipe.close()
	mapping, err := protocol.OpenWindow(window)
	if err != nil {
		panic(err)
	}
	defer mapping.Close()
	copied, err := unix.Dup(int(socket.Fd()))
	if err != nil {
		panic(err)
	}
	conn, err := protocol.Open(os.NewFile(uintptr(copied), "link"), 0)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	conn.OfferPipes(mapping)
	s := &speaker{worker: w, rng: rng, socket: socket, window: shared, free: &atomic.Int64{}}
	s.wild = []float64{0, 0.001, 0.01, 0.1}[rng.IntN(4)]
	if rng.IntN(4) > 0 {
		s.pipe = pipe
	}
	s.free.Store(protocol.DefaultWindow)
	calls := make(chan came, 1000)
	var heard sync.WaitGroup
	heard.Go(func() { hear(conn, calls, s.free) })
	s.answerAll(calls)
	_ = unix.Shutdown(int(socket.Fd()), unix.SHUT_RDWR)
	heard.Wait()
	_ = socket.Close()
}

// hear reads all that comes on a link.
func hear(conn *protocol.Conn, calls chan<- came, free *atomic.Int64) {
	defer close(calls)
	for {
		kind, p, err := conn.Next()
		switch {
		case err != nil:
			return
		case kind == protocol.KindCredit:
			free.Add(int64(binary.LittleEndian.Uint32(p)))
		case kind == protocol.KindCall:
			var c protocol.Call
			var req abi.Request
			if c.Decode(p) == nil && req.Decode(c.Request) == nil {
				calls <- came{conn.Number(), req.URI[2:]}
				conn.Begin(conn.Number())
			}
		}
	}
}

// answerAll answers calls, each in its turn, until the worker has had enough.
func (s *speaker) answerAll(calls <-chan came) {
	last := came{0, token(0)}
	enough := s.rng.IntN(100)
	for c := range calls {
		if enough--; enough < 0 {
			return
		}
		if s.rng.IntN(8) > 0 {
			s.put(protocol.KindFrame, c.number, s.content(c.token))
		}
		for range s.rng.IntN(60) {
			if s.rng.Float64() >= s.wild {
				s.say(kinds[s.rng.IntN(len(kinds))], c.number, c.token)
				continue
			}
			other := last.token
			if s.lied {
				other = c.token // whatever follows is part of this call's answer, so it must not look like another's
			}
			switch s.rng.IntN(6) {
			case 0: // of a call that has ended, or of none
				s.say(kinds[s.rng.IntN(len(kinds))], last.number, other)
			case 1: // of the next one, as far as its number can be known
				s.say(kinds[s.rng.IntN(len(kinds))], (c.number>>20+1)<<20|s.rng.Uint64N(1<<20), other)
			case 2:
				s.say(kinds[s.rng.IntN(len(kinds))], s.rng.Uint64(), other)
			case 3:
				s.say(protocol.KindDone, c.number, c.token)
			case 4:
				s.say(protocol.Kind(s.rng.IntN(32)), c.number, c.token)
			case 5:
				s.flush()
				return
			}
		}
		s.say(protocol.KindDone, c.number, c.token)
		s.flush()
		switch {
		case s.lied && s.rng.IntN(100) == 0:
			for range calls { // so the parent waits for the rest of a message until the deadline of its call
			}
			return
		case s.lied || s.gone:
			return
		}
		last = c
	}
}

// kinds are those that a worker may send in the middle of a call.
var kinds = []protocol.Kind{
	protocol.KindFrame, protocol.KindFrame, protocol.KindFrame, protocol.KindBody, protocol.KindBody, protocol.KindChunk, protocol.KindAsk,
	protocol.KindChanged, protocol.KindLog,
}

// say sends a message of a kind, which belongs to a call.
func (s *speaker) say(kind protocol.Kind, number uint64, token string) {
	s.put(kind, number, s.payload(kind, token))
}

// put sends a message, or something like it.
func (s *speaker) put(kind protocol.Kind, number uint64, payload []byte) {
	if s.rng.Float64() < s.wild/4 && len(payload) > 0 {
		payload[s.rng.IntN(len(payload))] ^= 1 << s.rng.IntN(8)
		s.lied = s.lied || kind == protocol.KindChunk
	}
	head := protocoltest.Header(len(payload), kind, number)
	if s.rng.Float64() < s.wild/8 {
		head[s.rng.IntN(8)] ^= 1 << s.rng.IntN(8)
		s.lied = true
	}
	s.out = append(append(s.out, head...), payload...)
	s.worker.sent.Add(1)
	if len(s.out) > 8<<10 || s.rng.IntN(20) == 0 {
		s.flush()
	}
}

func (s *speaker) flush() {
	if s.pipe != nil {
		s.lied, s.gone = s.pipe.write(s.socket, s.out, s.rng, s.wild) || s.lied, s.pipe.gone
		s.worker.piped.Add(uint64(len(s.out)))
		s.out = s.out[:0]
	}
	for len(s.out) > 0 && !s.gone {
		n, err := s.socket.Write(s.out)
		s.out, s.gone = s.out[n:], err != nil
	}
	s.out = s.out[:0]
}

// payload makes one that a message of this kind may have, or nothing that makes sense.
func (s *speaker) payload(kind protocol.Kind, token string) []byte {
	rng := s.rng
	if rng.Float64() < s.wild/4 {
		b := make([]byte, rng.IntN(100))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		s.lied = s.lied || kind == protocol.KindChunk
		return b
	}
	switch kind {
	case protocol.KindFrame:
		return s.frame(token)
	case protocol.KindBody:
		return []byte(token)
	case protocol.KindChunk:
		return s.chunk(token)
	case protocol.KindAsk:
		services := []abi.Service{abi.ServiceConfig, abi.ServiceConfig, abi.ServiceNotifyList, abi.ServiceNotifyUpdated, abi.ServiceHTTP, 99}
		requests := [][]byte{(&abi.ConfigRequest{Key: "key"}).Append(nil), nil, (&abi.NotifyRequest{URI: "x:n"}).Append(nil)}
		return (&protocol.Ask{Service: services[rng.IntN(len(services))], Request: requests[rng.IntN(len(requests))]}).Append(nil)
	case protocol.KindChanged:
		return []byte([]string{"x:changed", "", "y:changed", "\xff"}[rng.IntN(4)])
	case protocol.KindLog:
		text := []string{"guest log", "instance discarded", "forged"}[rng.IntN(3)]
		return (&protocol.Log{Message: text, Attrs: []protocol.Attr{{Key: "text", Value: token}, {Key: "err", Value: token}}}).Append(nil)
	case protocol.KindDone, protocol.KindFailed:
		d := &protocol.Done{Fuel: rng.Uint64(), HostCalls: rng.Uint32()}
		if rng.IntN(4) == 0 {
			d.Code, d.Message, d.Data, d.Cause = abi.Code(rng.Uint32N(50)), token, `{"a":1}`, token
			d.Stack = []uint32{rng.Uint32(), 1}
		}
		return d.Append(nil)
	case protocol.KindReady:
		return []byte(`{"reset":"reset"}`)
	}
	return make([]byte, rng.IntN(30))
}

// frame makes one of each sort.
func (s *speaker) frame(token string) []byte {
	switch s.rng.IntN(8) {
	case 0, 1, 2:
		return s.content(token)
	case 3:
		return (&abi.Reply{Resources: []abi.Resource{{URI: "x:" + token, Name: token}}, NextCursor: token}).Append(nil)
	case 4:
		return (&abi.Reply{Completions: []string{token}, PollMillis: 5, TTLMillis: 5}).Append(nil)
	case 5:
		return (&abi.Progress{Done: s.rng.Float64(), Total: 1, Message: token}).Append(nil)
	case 6:
		return (&abi.Reply{Error: &abi.GuestError{Message: token, RetryAfterMillis: s.rng.Uint64()}}).Append(nil)
	}
	return nil
}

// content makes the head of one, perhaps with its beginning.
func (s *speaker) content(token string) []byte {
	c := &abi.Content{URI: "x:o", Kind: abi.Kind(1 + s.rng.IntN(2)), ETag: token}
	if s.rng.IntN(2) == 0 {
		c.Inline = []byte(token)
	}
	return c.Append(nil)
}

// chunk makes the next one, when there is room for it, and else one that is empty, or a wrong one.
func (s *speaker) chunk(token string) []byte {
	if s.window == nil || s.rng.Float64() < s.wild {
		s.lied = true
		sizes := []uint32{0, 1, 64 << 10, 64<<10 + 1, protocol.DefaultWindow, 1<<32 - 1, s.rng.Uint32()}
		return (&protocol.Chunk{Offset: s.rng.Uint32N(2 * protocol.DefaultWindow), Length: sizes[s.rng.IntN(len(sizes))]}).Append(nil)
	}
	n := min(len(token)*(1+s.rng.IntN(200)), len(s.window)-s.at)
	if s.free.Load() < int64(n) {
		return (&protocol.Chunk{Offset: uint32(s.at)}).Append(nil)
	}
	s.free.Add(-int64(n))
	for i := 0; i < n; i += len(token) {
		copy(s.window[s.at+i:s.at+n], token)
	}
	c := &protocol.Chunk{Offset: uint32(s.at), Length: uint32(n)}
	s.at = (s.at + n) % len(s.window)
	return c.Append(nil)
}
