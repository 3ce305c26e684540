package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// A kind is the kind of a frame.
type kind byte

const (
	kindOpen   kind = iota + 1 // to the helper, first: an openRequest, in JSON
	kindQuery                  // to the helper: the timeout in nanoseconds, 8 bytes, and an encoded [abi.SQLRequest]
	kindMore                   // to the helper: requests the next rows
	kindReset                  // to the helper, which does not answer: ends the statement
	kindReady                  // from the helper, to kindOpen: its layers of isolation, in JSON
	kindAnswer                 // from the helper, to kindQuery and kindMore: see answer
	kindFailed                 // from the helper, to any request it answers: a failure, in JSON
)

const (
	headSize   = 4 + 8 + 1 // of a frame: the bytes of the payload, the number, the kind
	maxRequest = 64 << 20  // bytes of the payload of a frame to the helper
	maxAnswer  = 2 << 20   // bytes of the payload of a frame from the helper
	maxHead    = 512 << 10 // bytes of the description of columns
	maxRow     = 1 << 20   // bytes of one row
	batchSize  = 48 << 10  // bytes of rows at which an answer is complete; its last row may exceed them
)

// errProtocol is the error of a helper that violates the protocol.
var errProtocol = errors.New("the sqlite helper violated the protocol")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, args...))
}

// openFrame begins a frame in the memory of b. The caller appends the payload and calls sealFrame.
func openFrame(b []byte, k kind, number uint64) []byte {
	b = append(b[:0], 0, 0, 0, 0)
	return append(binary.LittleEndian.AppendUint64(b, number), byte(k))
}

func sealFrame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headSize))
	return b
}

// A frame is a frame that was read. Its payload is valid until the next one is read into the same memory.
type frame struct {
	kind    kind
	number  uint64
	payload []byte
}

// readFrame reads a frame of at most limit bytes of payload, into the memory of b if that suffices.
func readFrame(r *bufio.Reader, b []byte, limit int) (frame, error) {
	head, err := r.Peek(headSize)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	f, size, err := parseHead(head, limit)
	if err != nil {
		return frame{}, err
	}
	_, _ = r.Discard(headSize) // Peek has read it
	if uint32(cap(b)) < size {
		b = make([]byte, size)
	}
	f.payload = b[:size]
	if _, err = io.ReadFull(r, f.payload); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// parseHead reads the head of a frame, and the size of its payload.
func parseHead(head []byte, limit int) (f frame, size uint32, err error) {
	size = binary.LittleEndian.Uint32(head)
	if uint64(size) > uint64(limit) {
		return frame{}, 0, violation("a frame of %d bytes, the limit is %d", size, limit)
	}
	return frame{kind: kind(head[12]), number: binary.LittleEndian.Uint64(head[4:])}, size, nil
}

// parseFrame reads a frame that is all of b.
func parseFrame(b []byte, limit int) (frame, error) {
	if len(b) < headSize {
		return frame{}, violation("a frame of %d bytes in all", len(b))
	}
	f, size, err := parseHead(b, limit)
	if f.payload = b[headSize:]; err == nil && int(size) != len(f.payload) {
		err = violation("a frame of %d bytes, of which %d have come", size, len(f.payload))
	}
	return f, err
}

// An answer is one byte, 1 when there may be more rows and 0 otherwise; the number of columns, 0 in the answer to kindMore;
// the name and the declared type of each column; and rows until the end. Numbers are unsigned varints; a text follows its
// length. A value is its kind, one byte, and then nothing (null), 8 bytes (integer, float) or its length and
// its bytes (text, which is UTF-8, and bytes).

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendColumns(b []byte, columns []abi.SQLColumn) []byte {
	b = binary.AppendUvarint(b, uint64(len(columns)))
	for i := range columns {
		b = appendText(appendText(b, columns[i].Name), columns[i].Type)
	}
	return b
}

func appendValue(b []byte, v *abi.SQLValue) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case abi.SQLInt:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int))
	case abi.SQLFloat:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float))
	case abi.SQLText:
		return appendText(b, v.Text)
	case abi.SQLBytes:
		return append(binary.AppendUvarint(b, uint64(len(v.Bytes))), v.Bytes...)
	}
	return b
}

// takeAnswer reads the beginning of an answer, and gives its rows unread. It makes at most limit columns.
func takeAnswer(b []byte, limit int) (more bool, columns []abi.SQLColumn, rows []byte, err error) {
	if len(b) == 0 || b[0] > 1 {
		return false, nil, nil, violation("an answer without the byte for more rows")
	}
	more, b = b[0] == 1, b[1:]
	n, b, err := takeNumber(b)
	if err != nil {
		return false, nil, nil, err
	}
	if n > uint64(limit) {
		return false, nil, nil, violation("%d columns, the limit is %d", n, limit)
	}
	for range n {
		var c abi.SQLColumn
		if c.Name, b, err = takeText(b); err == nil {
			c.Type, b, err = takeText(b)
		}
		if err != nil {
			return false, nil, nil, err
		}
		columns = append(columns, c)
	}
	return more, columns, b, nil
}

func takeNumber(b []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, violation("a number is cut off or too large")
	}
	return n, b[size:], nil
}

// takeBytes returns bytes in the memory of b.
func takeBytes(b []byte) (taken, rest []byte, err error) {
	n, b, err := takeNumber(b)
	if err != nil {
		return nil, nil, err
	}
	if n > uint64(len(b)) {
		return nil, nil, violation("a value is cut off")
	}
	return b[:n:n], b[n:], nil
}

func takeText(b []byte) (string, []byte, error) {
	text, rest, err := takeBytes(b)
	if err == nil && !utf8.Valid(text) {
		err = violation("a text is not UTF-8")
	}
	return string(text), rest, err
}

// takeValue reads one value. Its bytes are in the memory of b.
func takeValue(b []byte, v *abi.SQLValue) (rest []byte, err error) {
	*v = abi.SQLValue{}
	if len(b) == 0 {
		return nil, violation("a row is cut off")
	}
	v.Kind, b = abi.SQLKind(b[0]), b[1:]
	switch v.Kind {
	case abi.SQLNull:
		return b, nil
	case abi.SQLInt, abi.SQLFloat:
		if len(b) < 8 {
			return nil, violation("a number is cut off")
		}
		bits := binary.LittleEndian.Uint64(b)
		if v.Kind == abi.SQLInt {
			v.Int = int64(bits)
		} else {
			v.Float = math.Float64frombits(bits)
		}
		return b[8:], nil
	case abi.SQLText:
		v.Text, b, err = takeText(b)
		return b, err
	case abi.SQLBytes:
		v.Bytes, b, err = takeBytes(b)
		return b, err
	}
	return nil, violation("a value has the kind %d", v.Kind)
}
