// Package bundle makes and verifies signatures of manifests, without a network, so that cosign accepts its signatures and it
// accepts those of cosign. It also reads and writes the files of keys.
//
// A signature is a sigstore bundle, version 0.3: a DSSE envelope whose payload is an in-toto Statement, version 1. The
// statement says that cosign's predicate of signing holds for the digest of one manifest. A key is of ECDSA on P-256;
// cosign verifies its own Ed25519 signatures with another algorithm than it signs with, so they are not supported.
//
// ECDSA signatures are malleable: of a signature (r, s), (r, n-s) holds too, and is accepted. It says the same about the same
// manifest. Nothing may therefore identify a signature by the digest of its bundle.
//
// The package is the only one that imports go-securesystemslib, whose format of encrypted keys cosign uses.
package bundle
