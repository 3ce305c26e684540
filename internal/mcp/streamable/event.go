package streamable

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// A framing is how the parts of a body are sent. HTTP/1.0 has no chunks.
type framing struct{ chunked bool }

// appendHead appends the head of a stream with the headers that were set.
func (f framing) appendHead(out []byte, header http.Header) []byte {
	header = header.Clone()
	setEventHeaders(header)
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	status := "HTTP/1.0 200 OK\r\n"
	if f.chunked {
		status = "HTTP/1.1 200 OK\r\n"
		header.Set("Transfer-Encoding", "chunked")
	}
	b := bytes.NewBuffer(append(out, status...))
	_ = header.Write(b) // a Buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// sizeRoom is kept before a chunk for its size, in hexadecimal digits.
const sizeRoom = "00000000"

// begin appends what stands before a part, which then is appended.
func (f framing) begin(out []byte) []byte {
	if f.chunked {
		out = append(out, sizeRoom+"\r\n"...)
	}
	return out
}

// end completes the part at begin.
func (f framing) end(out []byte, begin int) []byte {
	if !f.chunked {
		return out
	}
	size := strconv.AppendInt(make([]byte, 0, len(sizeRoom)), int64(len(out)-begin-len(sizeRoom+"\r\n")), 16)
	n := copy(out[begin:], size)
	n += copy(out[begin+n:], out[begin+len(sizeRoom):])
	return append(out[:begin+n], "\r\n"...)
}

// last appends the end of the body.
func (f framing) last(out []byte) []byte {
	if f.chunked {
		out = append(out, "0\r\n\r\n"...)
	}
	return out
}
