package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/wasmres/wasmres/runtime"
)

// maxBlob is how many bytes of a blob an answer shows. Of more there is the digest.
const maxBlob = 1 << 10

// An Answer is what a client gets: the result of MCP, or an object with the member error. Equal answers have the same
// text.
type Answer struct{ v *value }

// String gives the answer as it stands in files: JSON, then a section for each text that is not a plain line.
func (a *Answer) String() string {
	head, texts := extractTexts(a.v, mapContents)
	return string(appendParts(nil, head, texts))
}

// resultAnswer is the answer of a request that did not fail.
func resultAnswer(result []byte) (*Answer, error) {
	v, err := parseValue(result)
	if err != nil {
		return nil, fmt.Errorf("the answer cannot be kept: %w", err)
	}
	return &Answer{mapContents(v, withDigest)}, nil
}

// errorAnswer is the answer of a request that failed, but for the id by which only the log of one run knows it.
func errorAnswer(failed *runtime.RPCError) (*Answer, error) {
	object := object(
		member{"code", &value{text: strconv.Itoa(failed.Code)}},
		member{"message", text(failed.Message)},
	)
	if len(failed.Data) > 0 {
		data, err := parseValue(failed.Data)
		if err != nil {
			return nil, fmt.Errorf("the data of an error cannot be kept: %w", err)
		}
		if data.kind == kindObject {
			data = data.with("errorId", nil)
		}
		object = object.with("data", data)
	}
	return &Answer{(&value{kind: kindObject}).with("error", object)}, nil
}

// parseAnswer reads the JSON of an answer and what stands in sections of its own.
func parseAnswer(text []byte, texts []string) (*Answer, error) {
	v, err := parseValue(text)
	if err != nil {
		return nil, err
	}
	if v.kind != kindObject {
		return nil, errors.New(`an answer is an object, as in {"contents": […]} or {"error": {…}}`)
	}
	if v, err = insertTexts(v, texts, mapContents, true); err != nil {
		return nil, err
	}
	return &Answer{mapContents(v, withDigest)}, nil
}

// withDigest gives a content with the digest of its blob, where that is long.
func withDigest(content *value) *value {
	blob := content.get("blob")
	if blob == nil || blob.kind != kindString || base64.StdEncoding.DecodedLen(len(blob.text)) <= maxBlob {
		return content
	}
	b, err := base64.StdEncoding.DecodeString(blob.text)
	if err != nil || len(b) <= maxBlob {
		return content
	}
	sum := sha256.Sum256(b)
	return content.with("blob", object(
		member{"sha256", text(hex.EncodeToString(sum[:]))},
		member{"size", &value{text: strconv.Itoa(len(b))}},
	))
}
