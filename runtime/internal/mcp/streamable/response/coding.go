package response

import (
	"net/http"

	"github.com/wasmres/wasmres/runtime/internal/compress"
)

// Coding chooses how an answer with content of a type is coded. accept has the values of the Accept-Encoding header;
// size is in bytes, negative when it is unknown. local says that the client is on this machine: it gets the answer as it
// is, since compression costs more there than it saves, and a proxy on this machine compresses by itself. For bytes in
// base64, contentType is the type of the bytes.
func Coding(local bool, accept []string, contentType string, size int) compress.Coding {
	if local || len(accept) == 0 || !compress.Pays(contentType, size) {
		return compress.Identity
	}
	return compress.Choose(accept)
}

// SetCoding sets the headers of an answer with the given coding. It is called for Identity, too, where [Coding] may
// choose another for another client: caches then keep the two apart.
func SetCoding(header http.Header, c compress.Coding) {
	header.Add("Vary", "Accept-Encoding")
	if c != compress.Identity {
		header.Set("Content-Encoding", c.String())
		header.Del("Content-Length")
	}
}
