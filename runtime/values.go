package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// encodeValues returns the configuration as guests receive it: a JSON object.
func encodeValues(values map[string]string) (string, error) {
	if values == nil {
		values = map[string]string{}
	}
	text, err := json.Marshal(values)
	return string(text), err
}

// digestOf is the digest of a module.
func digestOf(module []byte) string {
	sum := sha256.Sum256(module)
	return "sha256:" + hex.EncodeToString(sum[:])
}
