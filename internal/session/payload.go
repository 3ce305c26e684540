package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// maxPayload is how many bytes of a question stand in its line. Of more there is the digest.
const maxPayload = 1 << 10

// A payload is bytes in a question, as an option: text=, blob= or sha256=.
type payload struct {
	name, value string // empty when there are none
}

// payloadOf gives the one form that bytes have.
func payloadOf(b []byte) payload {
	if len(b) == 0 {
		return payload{}
	}
	if len(b) > maxPayload {
		sum := sha256.Sum256(b)
		return payload{"sha256", hex.EncodeToString(sum[:])}
	}
	name, s := encodeBytes(b)
	return payload{name, s}
}

// option writes it, or nothing.
func (p payload) option(words []string) []string { return textOption(words, p.name, p.value) }

// parsePayload reads an option. It gives errUnknown for another name.
func parsePayload(name, value string) (payload, error) {
	switch name {
	case "text", "blob":
		b, err := decodeBytes(name, value)
		if err != nil {
			return payload{}, errors.New("it takes base64")
		}
		return payloadOf(b), nil
	case "sha256":
		sum, err := hex.DecodeString(value)
		if err != nil || len(sum) != sha256.Size {
			return payload{}, errors.New("it takes 64 hex digits")
		}
		return payload{name, hex.EncodeToString(sum)}, nil
	}
	return payload{}, errUnknown
}
