package streamable

import (
	"net/http"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// answer has the core answer a request. Where the answer does not leave whole, the connection is closed, so that the
// client does not take it for whole.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	client := response.Client{
		Local: localAddr(r).IsLoopback(), AcceptEncoding: strings.Join(r.Header.Values("Accept-Encoding"), ","),
	}
	if err := response.New(w).Answer(r.Context(), h.cfg.Core, m, client); err != nil {
		panic(http.ErrAbortHandler)
	}
}
