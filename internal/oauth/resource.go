package oauth

import (
	"encoding/json"
	"net/http"
	"strings"
)

// ResourcePrefix begins the path of the metadata of a resource; the path of the resource follows (RFC 9728 §3.1).
const ResourcePrefix = "/.well-known/oauth-protected-resource"

// A Resource is what a resource server says of itself.
type Resource struct {
	URL     string   // as clients name it (RFC 8707), byte for byte
	Issuers []string // at which clients get tokens
	Scopes  []string // for which clients may ask; none says nothing
	Name    string   // for people
}

// Metadata encodes the metadata of a resource (RFC 9728 §2).
func (r *Resource) Metadata() []byte {
	text, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Issuers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name,omitempty"`
	}{r.URL, r.Issuers, r.Scopes, []string{"header"}, r.Name})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return append(text, '\n')
}

// ServeMetadata answers a request with the metadata of a resource. Web pages of any origin may read it: it has no secret, and browsers ask
// for it before they have a token.
func ServeMetadata(w http.ResponseWriter, r *http.Request, text []byte) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	switch {
	case r.Method == http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD")
		header.Set("Access-Control-Allow-Headers", "*")
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "read the metadata with GET", http.StatusMethodNotAllowed)
	default:
		header.Set("Content-Type", "application/json")
		header.Set("Cache-Control", "max-age=300")
		_, _ = w.Write(text) // an error means that the client has gone
	}
}

// MetadataURL returns where the metadata of a resource is, whose URL is a server and a path.
func MetadataURL(resource string) string {
	scheme, rest, _ := strings.Cut(resource, "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + ResourcePrefix + "/" + path
}
