package oauth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
)

// A compact is a JSON Web Signature in its compact form (RFC 7515 §7.1), of which nothing is verified. Package jose, which reads the keys,
// parses and verifies these as well, but takes 20 µs longer for the first request with a token.
type compact struct {
	header    members
	payload   []byte
	signature []byte
	signed    string // what the signature is of
}

const maxHeader = 50 // members

// parseCompact parses a signature. Its header is an object without members of the same name.
func parseCompact(token string) (c compact, ok bool) {
	head, rest, _ := strings.Cut(token, ".")
	body, signature, found := strings.Cut(rest, ".")
	if !found {
		return c, false
	}
	text, ok := decodeBase64(head)
	if !ok {
		return c, false
	}
	if c.header, ok = membersOf(text); !ok || len(c.header) > maxHeader || c.header.repeats() {
		return c, false
	}
	if c.payload, ok = decodeBase64(body); !ok {
		return c, false
	}
	if c.signature, ok = decodeBase64(signature); !ok || len(c.signature) == 0 {
		return c, false
	}
	c.signed = token[:len(head)+1+len(body)]
	return c, true
}

// decodeBase64 decodes base64url without padding. Line ends, which package base64 skips, are no part of it.
func decodeBase64(text string) ([]byte, bool) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	return decoded, err == nil
}

// isSignedBy reports whether the signature is that of a key by an algorithm (RFC 7518 §3, RFC 8037 §3.1).
func (c *compact) isSignedBy(key any, algorithm jose.SignatureAlgorithm) bool {
	digest := sha256.Sum256([]byte(c.signed))
	switch k := key.(type) {
	case *rsa.PublicKey:
		switch algorithm {
		case jose.RS256:
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest[:], c.signature) == nil
		case jose.PS256:
			return rsa.VerifyPSS(k, crypto.SHA256, digest[:], c.signature, nil) == nil
		}
	case *ecdsa.PublicKey:
		const half = 32 // bytes, of P-256
		if algorithm == jose.ES256 && len(c.signature) == 2*half {
			r, s := new(big.Int).SetBytes(c.signature[:half]), new(big.Int).SetBytes(c.signature[half:])
			return ecdsa.Verify(k, digest[:], r, s)
		}
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA && len(k) == ed25519.PublicKeySize && ed25519.Verify(k, []byte(c.signed), c.signature)
	}
	return false
}

// members are those of a JSON object, in their order.
type members []member

type member struct {
	name  []byte
	value json.RawMessage
}

// membersOf splits a JSON object, whose texts it goes on to use. ok is false for anything else.
func membersOf(text []byte) (all members, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	rest := skipSpace(text)
	if rest[0] != '{' { // valid JSON is not empty
		return nil, false
	}
	all = make(members, 0, 16)
	for rest = skipSpace(rest[1:]); rest[0] != '}'; {
		n := lengthOf(rest)
		name, ok := bytesOf(rest[:n])
		if !ok {
			return nil, false
		}
		rest = skipSpace(skipSpace(rest[n:])[1:]) // a colon
		n = lengthOf(rest)
		all = append(all, member{name, rest[:n:n]})
		if rest = skipSpace(rest[n:]); rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
	}
	return all, true
}

func skipSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// lengthOf returns the length of the value at the beginning of valid JSON.
func lengthOf(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// bytesOf decodes a JSON string of valid JSON. ok is false for another value.
func bytesOf(raw []byte) (text []byte, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner, true
	}
	var decoded string
	if json.Unmarshal(raw, &decoded) != nil {
		return nil, false
	}
	return []byte(decoded), true
}

// get returns the value of a member; nil if there is none. Of several it is the last one (RFC 7519 §4).
func (m members) get(name string) json.RawMessage {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].name) == name {
			return m[i].value
		}
	}
	return nil
}

// text returns a member that is a string; ok is false for another value. One that is missing is empty.
func (m members) text(name string) (text string, ok bool) {
	raw := m.get(name)
	if raw == nil {
		return "", true
	}
	b, ok := bytesOf(raw)
	return string(b), ok
}

// repeats reports whether two members have the same name.
func (m members) repeats() bool {
	for i := range m {
		for j := range i {
			if bytes.Equal(m[i].name, m[j].name) {
				return true
			}
		}
	}
	return false
}
