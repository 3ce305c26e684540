package host

import (
	"net/http"
	"strings"
)

// isMisdirected reports whether a request came on a connection that a client has opened for another name, where one of the two
// tenants accepts certificates of clients. Browsers and clients of HTTP/2 send requests for several names on one connection if its
// certificate has them all. The client has then chosen its certificate for the other tenant, or has shown none; it would choose again on a
// connection for this name, and does so after the status 421 (RFC 9110 §7.4). A request with another credential needs no certificate.
func (rs *routes) isMisdirected(r *http.Request, to *route) bool {
	if r.TLS == nil || r.TLS.ServerName == "" {
		return false
	}
	if len(r.TLS.PeerCertificates) == 0 && r.Header.Get("Authorization") != "" {
		return false
	}
	opened := strings.ToLower(r.TLS.ServerName)
	if opened == string(nameOf([]byte(r.Host))) {
		return false
	}
	return to.acceptsCertificates() || rs.byHost[opened].acceptsCertificates()
}

// acceptsCertificates reports whether the tenant has clients with certificates. No tenant has none.
func (r *route) acceptsCertificates() bool {
	if r == nil {
		return false
	}
	t := r.is.Load().tenant
	return t != nil && !t.Disabled && t.Certificates != nil
}
