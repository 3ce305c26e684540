package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeys    = 100
	maxSameID  = 4 // keys of one ID that are tried
	minRSABits = 2048
	maxRSABits = 4096 // verifying takes longer than a request should with more
)

// A keySet has the public keys of an issuer by which tokens may be signed. It is immutable.
type keySet struct {
	byID map[string][]jose.JSONWebKey
	all  []jose.JSONWebKey
}

// parseKeySet reads a JSON Web Key Set (RFC 7517 §5). Keys that cannot sign tokens are left out.
func parseKeySet(text []byte) (*keySet, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("the keys are no JSON Web Key Set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("there are %d keys: at most %d are allowed", len(set.Keys), maxKeys)
	}
	s := &keySet{byID: map[string][]jose.JSONWebKey{}}
	for _, raw := range set.Keys {
		if key, ok := parseKey(raw); ok {
			s.all = append(s.all, key)
			if len(s.byID[key.KeyID]) < maxSameID {
				s.byID[key.KeyID] = append(s.byID[key.KeyID], key)
			}
		}
	}
	if len(s.all) == 0 {
		return nil, errors.New("there is no key for RS256, PS256, ES256 or EdDSA")
	}
	return s, nil
}

// parseKey reads a public key; ok is false for one that cannot sign tokens. Chains of certificates are ignored: the key
// is trusted since its issuer has sent it.
func parseKey(raw json.RawMessage) (key jose.JSONWebKey, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members["d"] != nil || members["k"] != nil {
		return key, false
	}
	for _, name := range []string{"x5c", "x5u", "x5t", "x5t#S256"} {
		delete(members, name)
	}
	bare, err := json.Marshal(members)
	if err != nil || key.UnmarshalJSON(bare) != nil || !key.Valid() || !key.IsPublic() || len(key.KeyID) > maxText {
		return key, false
	}
	return key, (key.Use == "" || key.Use == "sig") && len(algorithmsOf(key)) > 0
}

// algorithmsOf returns those by which a key may sign.
func algorithmsOf(key jose.JSONWebKey) (all []jose.SignatureAlgorithm) {
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSABits && bits <= maxRSABits {
			all = []jose.SignatureAlgorithm{jose.RS256, jose.PS256}
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			all = []jose.SignatureAlgorithm{jose.ES256}
		}
	case ed25519.PublicKey:
		all = []jose.SignatureAlgorithm{jose.EdDSA}
	}
	if key.Algorithm == "" || key.Algorithm == "Ed25519" && len(all) == 1 && all[0] == jose.EdDSA {
		return all
	}
	for _, one := range all {
		if string(one) == key.Algorithm {
			return []jose.SignatureAlgorithm{one}
		}
	}
	return nil
}

// find returns the keys that may have signed a token. One without an ID is of the only key that fits.
func (s *keySet) find(id string, algorithm string) (keys []jose.JSONWebKey) {
	from := s.byID[id]
	if id == "" {
		from = s.all
	}
	for _, key := range from {
		for _, one := range algorithmsOf(key) {
			if string(one) == algorithm {
				keys = append(keys, key)
			}
		}
	}
	if id == "" && len(keys) > 1 {
		return nil
	}
	return keys
}
