package admin

import (
	"context"
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the API, which is JSON of OpenAPI 3.1.
func OpenAPI() []byte { return openAPI }

// describe answers the description as it was written.
func (s *Server) describe(*http.Request) (answer, error) {
	return answer{contentType: "application/json", stream: func(_ context.Context, w streamWriter) error {
		_, err := w.Write(openAPI)
		return err
	}}, nil
}
