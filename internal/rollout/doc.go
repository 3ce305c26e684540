// Package rollout serves a share of the clients by another version of a provider, and says when that version must go back.
//
// # Who gets a canary
//
// A [Source] has the providers of a tenant as they are served, and a [Canary] for each version on trial: the same providers
// with that version among them. It picks one of these for each client, always the same one: by a hash of the client's
// principal, else of its session, else of its address. A client without any of these is picked for each request. A client
// whose identity may choose versions names one by the header Wasmres-Version: that of a canary, or any other number for the
// version that serves. Lists, cursors, templates, completions and subscriptions all go where their client goes. No answer is
// one that a cache may share.
//
// # When a canary goes back
//
// A [Trial] counts the calls of both versions of one provider: which of them ended by a fault of the guest, and how long
// reads took, without the time in which their clients kept them waiting. It says once that the canary has failed.
package rollout
