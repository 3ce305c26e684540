// Package subscription serves subscriptions/listen: streams of server-sent events that last for hours.
//
// A [Set] has the subscriptions of one endpoint, and ends them together. Where a response can give away its connection,
// as with HTTP/1, a subscription takes it from net/http and costs one goroutine with a small stack. Elsewhere it runs
// within its handler.
package subscription
