package streamable

import (
	"net/http"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// answer answers a request by the core. If the answer is incomplete, it closes the connection, so that the client
// notices.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	client := response.Client{
		Local: localAddr(r).IsLoopback(), AcceptEncoding: strings.Join(r.Header.Values("Accept-Encoding"), ","),
	}
	if err := response.New(w).Answer(r.Context(), h.cfg.Core, m, client); err != nil {
		panic(http.ErrAbortHandler)
	}
}
