// Package response writes HTTP answers: whole or in parts, each within a deadline.
//
// A [Writer] writes the core's answer to one request, either to a response of net/http or, for package fastpath, to a
// connection that net/http has not read the request from. A [Stream] writes server-sent events. The package also has
// the encodings of events and chunks, the choice of a content coding, and answers that are errors.
package response
