package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/wasmres/wasmres/runtime/auth"
)

// The parts of a token: wr_ID_RANDOMCRC. ID is not secret. RANDOM is 32 bytes in base64url. CRC is the CRC-32 of all that
// precedes it, in hex, by which scanners for leaked secrets tell a token from other text.
const (
	prefix    = "wr_"
	idLen     = 12 // of base32, in lower case
	randomLen = 43
	crcLen    = 8
	tokenLen  = idLen + len("_") + randomLen + crcLen // without the prefix
)

// AdminPrefix begins the tokens by which operators administer a server, in place of wr_.
const AdminPrefix = "wra_"

var ids = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// New makes a token. text is for the client; id and sum, its SHA-256, are for the file.
func New() (text, id string, sum [sha256.Size]byte) { return newToken(prefix) }

// NewAdmin makes a token of a person or program that administers a server, as New does.
func NewAdmin() (text, id string, sum [sha256.Size]byte) { return newToken(AdminPrefix) }

func newToken(prefix string) (text, id string, sum [sha256.Size]byte) {
	var random [32]byte
	var name [8]byte            // more bits than idLen characters have
	_, _ = rand.Read(random[:]) // never fails
	_, _ = rand.Read(name[:])
	id = ids.EncodeToString(name[:])[:idLen]
	text = prefix + id + "_" + base64.RawURLEncoding.EncodeToString(random[:])
	text += checksum(text)
	return text, id, sha256.Sum256([]byte(text))
}

// Parse gives the id and the SHA-256 of the token in a header Authorization; ok is false for any other text.
func Parse(authorization string) (id string, sum [sha256.Size]byte, ok bool) {
	if len(authorization) > auth.MaxAuthorization {
		return "", sum, false
	}
	text, ok := bearer(authorization)
	if !ok {
		return "", sum, false
	}
	return parse(prefix, text)
}

// ParseAdmin is Parse for tokens of NewAdmin.
func ParseAdmin(authorization string) (id string, sum [sha256.Size]byte, ok bool) {
	if len(authorization) > auth.MaxAuthorization {
		return "", sum, false
	}
	text, ok := bearer(authorization)
	if !ok {
		return "", sum, false
	}
	return parse(AdminPrefix, text)
}

// parse gives the id and the SHA-256 of a token with a prefix; ok is false for any other text.
func parse(prefix, text string) (id string, sum [sha256.Size]byte, ok bool) {
	if len(text) != len(prefix)+tokenLen || !strings.HasPrefix(text, prefix) || text[len(prefix)+idLen] != '_' {
		return "", sum, false
	}
	id = text[len(prefix) : len(prefix)+idLen]
	body := text[:len(text)-crcLen]
	if !IsID(id) || checksum(body) != text[len(body):] {
		return "", sum, false
	}
	return id, sha256.Sum256([]byte(text)), true
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return hex.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// IsID reports whether s can be the id of a token.
func IsID(s string) bool {
	if len(s) != idLen {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// bearer gives the token of a header Authorization; ok is false for another scheme.
func bearer(header string) (token string, ok bool) {
	scheme, rest, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	return strings.Trim(rest, " "), true
}
