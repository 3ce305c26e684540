// Package httpcap is the power to fetch URLs.
//
// It owns the services [abi.ServiceHTTP] and [abi.ServiceStream], and trusts neither guests nor servers. A request needs
// a [Rule] that allows its scheme, host, port, method and path, and so does each redirect; what is matched is what is
// sent. Whatever a name resolves to, the address that is dialled must be a public one, or the rule say Private. Time,
// bytes, connections and streams are bounded, and nothing outlives the guest's call but idle connections and the cache.
//
// Guests never see secrets: they write {{secret:NAME}} into the value of a header, the text is put in just before the
// request leaves, for hosts whose rule names the secret, and it is taken out of what comes back.
package httpcap
