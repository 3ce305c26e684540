package dashboard

import (
	"net/http"

	"github.com/wasmres/wasmres/internal/admin"
)

// Through has what h asks of the API pass through what wrap makes of its transport.
func (h *Handler) Through(wrap func(http.RoundTripper) http.RoundTripper) {
	as := h.as
	h.as = func(p admin.Person) *admin.Client { return as(p).Through(wrap) }
}
