package main

import (
	"errors"

	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/registry/internal/interop/clients"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// keysTravel has either program sign with the key that the other has made and encrypted.
func keysTravel(w *world) error {
	name := w.fresh()
	manifest, err := w.push(name)
	if err != nil {
		return err
	}
	sign := append([]string{"sign", "--key", w.path("ours.key"), "--yes", at(name, manifest)}, clients.Offline...)
	if _, err := w.cosign(sign...); err != nil {
		return err
	}
	if err := w.pull(name, w.signer.PublicKey()); err != nil {
		return err
	}
	theirs, err := registry.LoadSigner(w.path("theirs.key"), []byte(clients.Passphrase))
	if err != nil {
		return err
	}
	again := w.fresh()
	if _, err := w.push(again); err != nil {
		return err
	}
	if err := w.signWith(theirs, again, manifest); err != nil {
		return err
	}
	_, err = w.cosign("verify", "--key", w.path("theirs.pub"), "--insecure-ignore-tlog=true", at(again, manifest))
	return errors.Join(err, w.pull(again, w.theirs))
}

func (w *world) signWith(s *registry.Signer, name string, manifest oci.Descriptor) error {
	b, err := s.Sign(manifest)
	if err != nil {
		return err
	}
	to, err := w.repository(name)
	if err != nil {
		return err
	}
	_, err = transfer.PushSignature(w.ctx, to, b, manifest)
	return err
}

// wasmresCopies copies from one registry to another, with the signature.
func wasmresCopies(w *world) error {
	name := w.fresh()
	if _, err := w.pushSigned(name); err != nil {
		return err
	}
	from, err := w.repository(name)
	if err != nil {
		return err
	}
	to, err := w.repository(w.elsewhere(name))
	if err != nil {
		return err
	}
	if _, err := transfer.Copy(w.ctx, from, "1", to, "1", transfer.Options{Signatures: true}); err != nil {
		return err
	}
	return w.pull(w.elsewhere(name), w.signer.PublicKey())
}
