package streamable

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// appendHead appends the head of a stream with the headers that were set.
func appendHead(out []byte, header http.Header) []byte {
	header = header.Clone()
	setEventHeaders(header)
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("Transfer-Encoding", "chunked")
	b := bytes.NewBuffer(append(out, "HTTP/1.1 200 OK\r\n"...))
	_ = header.Write(b) // a Buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// sizeRoom is kept before a chunk for its size, in hexadecimal digits.
const sizeRoom = "00000000"

// appendEventHead appends what stands before a message, which then is appended.
func appendEventHead(out []byte) []byte {
	return append(out, sizeRoom+"\r\n"+eventHead...)
}

// appendEventTail completes the event at begin, which becomes a chunk.
func appendEventTail(out []byte, begin int) []byte {
	out = append(out, eventTail...)
	size := strconv.AppendInt(make([]byte, 0, len(sizeRoom)), int64(len(out)-begin-len(sizeRoom+"\r\n")), 16)
	n := copy(out[begin:], size)
	n += copy(out[begin+n:], out[begin+len(sizeRoom):])
	return append(out[:begin+n], "\r\n"...)
}
