package abi

import (
	"encoding/binary"
	"math"
)

// The writers here append one field; zero values are left out, as proto3 does.

func putTag(b []byte, num uint32, t wireType) []byte {
	return binary.AppendUvarint(b, uint64(num)<<3|uint64(t))
}

func putString(b []byte, num uint32, s string) []byte {
	if s == "" {
		return b
	}
	b = binary.AppendUvarint(putTag(b, num, wireBytes), uint64(len(s)))
	return append(b, s...)
}

// putStrings appends a repeated field, empty strings included.
func putStrings(b []byte, num uint32, list []string) []byte {
	for _, s := range list {
		b = binary.AppendUvarint(putTag(b, num, wireBytes), uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// putBytes appends a field that is present even when empty.
func putBytes(b []byte, num uint32, p []byte) []byte {
	b = binary.AppendUvarint(putTag(b, num, wireBytes), uint64(len(p)))
	return append(b, p...)
}

func putUint(b []byte, num uint32, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(putTag(b, num, wireVarint), v)
}

func putBool(b []byte, num uint32, v bool) []byte {
	if !v {
		return b
	}
	return putUint(b, num, 1)
}

func putFloat(b []byte, num uint32, v float64) []byte {
	if math.Float64bits(v) == 0 {
		return b
	}
	return putFixed(b, num, v)
}

// putFixed appends a field that is present even when zero.
func putFixed(b []byte, num uint32, v float64) []byte {
	return binary.LittleEndian.AppendUint64(putTag(b, num, wireFixed64), math.Float64bits(v))
}

// putPriority appends a priority, of which NaN means none.
func putPriority(b []byte, v float64) []byte {
	if math.IsNaN(v) {
		return b
	}
	return putFixed(b, 7, v)
}

// putMessage appends an embedded message that appendTo writes. It leaves one byte for the length, and moves the message
// when the length needs more.
func putMessage(b []byte, num uint32, appendTo func([]byte) []byte) []byte {
	b = append(putTag(b, num, wireBytes), 0)
	start := len(b)
	b = appendTo(b)
	size := len(b) - start
	if size < 0x80 {
		b[start-1] = byte(size)
		return b
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	b = append(b, head[1:n]...)
	copy(b[start+n-1:], b[start:start+size])
	copy(b[start-1:], head[:n])
	return b
}
