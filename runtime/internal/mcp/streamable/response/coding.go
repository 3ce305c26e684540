package response

import (
	"net/http"

	"github.com/wasmres/wasmres/runtime/internal/compress"
)

// Coding chooses how an answer with content of a type is coded. accept has the values of the Accept-Encoding header;
// size is in bytes, negative when it is unknown. A local client, on this machine, gets no compression: that costs more
// than it saves, and a proxy on this machine can compress itself. For bytes in base64, contentType is the type of the
// bytes.
func Coding(local bool, accept []string, contentType string, size int) compress.Coding {
	if local || len(accept) == 0 || !compress.Pays(contentType, size) {
		return compress.Identity
	}
	return compress.Choose(accept)
}

// SetCoding sets the headers of an answer with that coding. It is called for Identity, too, if [Coding] may choose
// another for another client, so that caches keep the two apart.
func SetCoding(header http.Header, c compress.Coding) {
	header.Add("Vary", "Accept-Encoding")
	if c != compress.Identity {
		header.Set("Content-Encoding", c.String())
		header.Del("Content-Length")
	}
}
