// Package httpcap is the capability to fetch URLs.
//
// It owns the services [abi.ServiceHTTP] and [abi.ServiceStream], and trusts neither guests nor servers. Each request, and
// each redirect, needs a [Rule] that allows its scheme, host, port, method and path; the URL that is matched is the URL
// that is sent. The address that is dialled must be a public one, unless the rule is Private. Time, bytes, connections and
// streams are bounded. Only idle connections and the cache outlive a guest's call.
//
// Guests never see secrets. They write {{secret:NAME}} into the value of a header field; the host puts the secret in just
// before it sends the request, if the rule of the host names the secret, and redacts it from the response.
package httpcap
