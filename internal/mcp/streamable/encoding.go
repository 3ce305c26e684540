package streamable

import (
	"net/http"

	"github.com/wasmres/wasmres/internal/compress"
)

// coding chooses how an answer to r that holds content of a type is coded; size is in bytes, negative when not known.
// Clients on this machine get it as it is: there compression costs more than it saves, and a proxy in front compresses
// by itself. Bytes in base64 are no text, whatever their type: for them the type is that of the bytes.
func (h *Handler) coding(r *http.Request, mimeType string, size int) compress.Coding {
	return codingFor(localAddr(r).IsLoopback(), r.Header.Values("Accept-Encoding"), mimeType, size)
}

func codingFor(local bool, acceptEncoding []string, mimeType string, size int) compress.Coding {
	if local || len(acceptEncoding) == 0 || !compress.Pays(mimeType, size) {
		return compress.Identity
	}
	return compress.Choose(acceptEncoding)
}

// announce says in a header how the answer is coded. It is to be called for every answer that [Handler.coding] was
// asked about, Identity included, since another client may get it otherwise.
func announce(header http.Header, c compress.Coding) {
	header.Add("Vary", "Accept-Encoding")
	if c != compress.Identity {
		header.Set("Content-Encoding", c.String())
		header.Del("Content-Length")
	}
}
