package response

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// A Framing says how the parts of a body are sent on a connection: in chunks (RFC 9112 §7.1), or, to a client of
// HTTP/1.0, as they are until the connection is closed.
type Framing struct{ Chunked bool }

// AppendHead appends the head of an event stream after which the connection is closed. header has the other headers.
func (f Framing) AppendHead(out []byte, header http.Header) []byte {
	header = header.Clone()
	setEventHeaders(header)
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	status := "HTTP/1.0 200 OK\r\n"
	if f.Chunked {
		status = "HTTP/1.1 200 OK\r\n"
		header.Set("Transfer-Encoding", "chunked")
	}
	b := bytes.NewBuffer(append(out, status...))
	_ = header.Write(b) // a Buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// sizeRoom is the space before a chunk for its size in hexadecimal digits, which is known when the chunk has ended.
const sizeRoom = "00000000"

// BeginPart appends what precedes a part. The caller then appends the part and calls EndPart.
func (f Framing) BeginPart(out []byte) []byte {
	if f.Chunked {
		out = append(out, sizeRoom+"\r\n"...)
	}
	return out
}

// EndPart completes the part that BeginPart began when out had begin bytes.
func (f Framing) EndPart(out []byte, begin int) []byte {
	if !f.Chunked {
		return out
	}
	size := strconv.AppendInt(make([]byte, 0, len(sizeRoom)), int64(len(out)-begin-len(sizeRoom+"\r\n")), 16)
	n := copy(out[begin:], size)
	n += copy(out[begin+n:], out[begin+len(sizeRoom):])
	return append(out[:begin+n], "\r\n"...)
}

// AppendEnd appends the end of the body.
func (f Framing) AppendEnd(out []byte) []byte {
	if f.Chunked {
		out = append(out, lastChunk...)
	}
	return out
}

const lastChunk = "0\r\n\r\n"

// A chunkWriter writes each piece as a chunk.
type chunkWriter struct{ to net.Conn }

var _ io.Writer = chunkWriter{}

// Write implements [io.Writer].
func (c chunkWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty chunk would end the body
	}
	var space [18]byte
	pieces := net.Buffers{append(strconv.AppendInt(space[:0], int64(len(p)), 16), "\r\n"...), p, []byte("\r\n")}
	if _, err := pieces.WriteTo(c.to); err != nil {
		return 0, err
	}
	return len(p), nil
}
