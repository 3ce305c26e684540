// Package protocoltest has raw messages, for tests in which one side of the protocol violates it.
package protocoltest

import (
	"encoding/binary"
	"io"
	"os"
	"syscall"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// Header makes the header of a message. Tests give it values that are wrong for the message, too.
func Header(size int, kind protocol.Kind, number uint64) []byte {
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(size)), byte(kind), 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, number)
}

// kinds is one more than the highest kind.
const kinds = byte(protocol.KindSwitch) + 1

// Messages makes messages with valid headers out of any bytes. Each message takes one byte for its kind, two for its size,
// and as many as that, or what is left. All have the same number, but for switches, which have none.
func Messages(b []byte, number uint64) (all []byte) {
	for len(b) > 3 {
		kind, size := protocol.Kind(b[0]%kinds), int(binary.LittleEndian.Uint16(b[1:]))
		size = min(size, len(b)-3)
		of := number
		if kind == protocol.KindSwitch {
			of = 0
		}
		all = append(append(all, Header(size, kind, of)...), b[3:3+size]...)
		b = b[3+size:]
	}
	return all
}

// Seed is the reverse of [Messages].
func Seed(list ...protocol.Message) (b []byte) {
	for _, m := range list {
		b = append(b, byte(m.Kind()), 0, 0)
		at := len(b)
		b = m.Append(b)
		binary.LittleEndian.PutUint16(b[at-2:], uint16(len(b)-at))
	}
	return b
}

// A Raw message has any kind and payload.
type Raw struct {
	K       protocol.Kind
	Payload []byte
}

// Kind implements [protocol.Message].
func (m Raw) Kind() protocol.Kind { return m.K }

// Append implements [protocol.Message].
func (m Raw) Append(b []byte) []byte { return append(b, m.Payload...) }

// Check implements [protocol.Message].
func (m Raw) Check() error { return nil }

// Exchange writes b to a socket, ends that direction, and discards what comes until the end. It closes the socket.
func Exchange(socket *os.File, b []byte) {
	defer socket.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, socket)
	}()
	_, _ = socket.Write(b)
	_ = syscall.Shutdown(int(socket.Fd()), syscall.SHUT_WR)
	<-read
}
