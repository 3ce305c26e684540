package acme

import "crypto"

// Pair returns the text of the file of a certificate.
func Pair(name string, chain []byte, key crypto.PrivateKey) ([]byte, error) {
	text, _, err := pair(name, chain, key.(crypto.Signer))
	return text, err
}
