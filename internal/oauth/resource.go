package oauth

import (
	"encoding/json"
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

// MetadataURL returns where the metadata of a resource is, whose URL is a server and a path.
func MetadataURL(resource string) string {
	scheme, rest, _ := strings.Cut(resource, "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + ResourcePrefix + "/" + path
}
