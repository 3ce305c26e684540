package app

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/wasmres/wasmres/runtime/resource"
)

// provenance is what clients are told of the provider; nil for nothing.
func (a *App) provenance() *resource.Provenance {
	if !a.cfg.Provenance {
		return nil
	}
	return &resource.Provenance{Reference: a.cfg.From.Reference, Signer: a.cfg.From.Signer, Policy: a.policyDigest()}
}

// policyDigest is the digest of what the operator granted, as policy files write it; empty if nothing is granted. The
// configuration is left out: a client could guess a short value by its digest.
func (a *App) policyDigest() string {
	granted := a.cfg.Grants
	granted.Config = nil
	if granted.Empty() {
		return ""
	}
	sum := sha256.Sum256(granted.Format())
	return "sha256:" + hex.EncodeToString(sum[:])
}
