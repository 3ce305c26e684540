package oauth

import "net/http"

// SetTransport has a new Verifier send all requests by rt.
func SetTransport(v *Verifier, rt http.RoundTripper) { v.any.Transport = rt }
