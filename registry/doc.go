// Package registry publishes providers in OCI registries, and runs those of others only if they come from whom the user
// trusts.
//
// A [Reference] names a provider, in a repository of a registry or in an OCI image layout on disk. A [Getter] turns it into a
// file to run: from the [Store] of the user, which has what was used before, or else by a [Client] from its registry, and only
// if a [Verifier] accepts it. An author publishes with [Store.Add], [Signer.Sign] and [Client.Push].
//
// # Signatures
//
// A [Signer] signs the manifest of a provider, which names its module by digest. The signature is a sigstore bundle, which a
// registry keeps beside the manifest, as its referrer. cosign verifies it, and signatures of cosign verify here, with no
// network in either case: a key is a pair of files, and nothing else takes part. See [GenerateKey].
//
// # Trust
//
// A [TrustPolicy] is a file of the user's that says whose signatures the providers of which repositories need. A [Verifier]
// decides by it, before any byte of a module is read, and each time that a provider is run: the signatures are kept with the
// module. The signature of an old version stays true, so the verifier also refuses a provider that is older than one that it
// has accepted before.
package registry
