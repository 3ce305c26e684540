package session

import (
	"fmt"
	"strconv"

	"github.com/wasmres/wasmres/abi"
)

// A streaming message has the number of a stream. Those that services give cannot be foreseen; in a session the first
// one that a step opens with a capability is 1, the next one 2.
type streaming interface {
	Append(b []byte) []byte
	// stream is where the number stands; 0 for none.
	stream() *uint64
}

// A streamQuestion asks for more of an answer.
type streamQuestion struct {
	abi.StreamRequest
	number string // Stream, in a word
}

func (q *streamQuestion) stream() *uint64 { return &q.Stream }

func (q *streamQuestion) Decode(request []byte) error {
	err := q.StreamRequest.Decode(request)
	q.number = strconv.FormatUint(q.Stream, 10)
	return err
}

func (q *streamQuestion) places() []*string { return []*string{&q.number} }

func (q *streamQuestion) options() []string { return nil }

func (q *streamQuestion) setOption(string, string) error { return errUnknown }

func (q *streamQuestion) check() error {
	n, err := parseNumber(q.number, 64)
	if err != nil {
		return fmt.Errorf("%.64q is no stream: %w", q.number, err)
	}
	q.number = strconv.FormatUint(n, 10)
	return nil
}

// A numbering has what the services of one capability call the streams of a step, in the order they were opened.
type numbering []uint64

// real gives what a service calls a stream; 0, which is none, for one that it did not open.
func (n numbering) real(number uint64) uint64 {
	if number == 0 || number > uint64(len(n)) {
		return 0
	}
	return n[number-1]
}

// number gives the number of what a service calls a stream in answer to a question about another one or, with 0, about
// none. One that it goes on with keeps its number.
func (n *numbering) number(real, asked uint64) uint64 {
	switch {
	case real == 0:
		return 0
	case n.real(asked) == real:
		return asked
	}
	*n = append(*n, real)
	return uint64(len(*n))
}
