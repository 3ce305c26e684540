// Package approval remembers which powers a person granted to which module, and asks the person.
//
// It owns the rule of who may do what: nothing is granted by default, what a manifest says is a request, and what a
// person answered counts for the digest of one module. The answers are kept in a private folder, a file for each
// digest. Nothing that comes from a provider or from a client can write there.
//
// A new version is another digest. It gets what an earlier one was granted when nobody could have put another provider
// in its place, and it asks for no more: when it has the same name, is the same file, in folders that only the user
// and the system can write to, and each thing it asks for was asked for when the earlier one was approved. A name alone
// says nothing, since any provider can have it. Pinned approvals are for their digest and no other; a version that was
// revoked ends what those before it were granted.
package approval
