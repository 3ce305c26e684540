package session

import "github.com/wasmres/wasmres/abi"

// streamOf returns the field of a message that has the number of a stream; nil for none. Services choose numbers that
// differ in each run. In a session, the first stream that a step opens with a capability is 1, the next one 2.
func streamOf(m message) *uint64 {
	switch m := m.(type) {
	case *abi.StreamRequest:
		return &m.Stream
	case *abi.HTTPResponse:
		return &m.Stream
	case *abi.SQLResponse:
		return &m.Stream
	}
	return nil
}

// streamIDs has the numbers that the services of one capability gave the streams of a step, in the order they were
// opened.
type streamIDs []uint64

// real returns the number a service gave a stream; 0, which is none, for one that it did not open.
func (s streamIDs) real(number uint64) uint64 {
	if number == 0 || number > uint64(len(s)) {
		return 0
	}
	return s[number-1]
}

// number returns the number of a stream in the session, when a service names the stream in answer to a question about
// another one or, with 0, about none. A stream that the answer continues keeps its number.
func (s *streamIDs) number(real, asked uint64) uint64 {
	switch {
	case real == 0:
		return 0
	case s.real(asked) == real:
		return asked
	}
	*s = append(*s, real)
	return uint64(len(*s))
}
