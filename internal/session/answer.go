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

// maxBlob bounds the bytes of a blob in an answer. A longer blob is replaced by its digest and size.
const maxBlob = 1 << 10

// An Answer is the answer to a client: an MCP result, or an object with the member error. Equal answers have equal texts.
type Answer struct{ v *value }

// String returns the form of files: JSON, then a section for each text that JSON would have to escape.
func (a *Answer) String() string {
	head, texts := extractTexts(a.v, mapContents)
	return string(appendParts(nil, head, texts))
}

// resultAnswer makes an Answer of an MCP result.
func resultAnswer(result []byte) (*Answer, error) {
	v, err := parseValue(result)
	if err != nil {
		return nil, fmt.Errorf("record answer: %w", err)
	}
	return &Answer{mapContents(v, withDigest)}, nil
}

// errorAnswer makes an Answer of an MCP error, without the errorId, which differs in each run.
func errorAnswer(failed *runtime.RPCError) (*Answer, error) {
	object := object(
		member{"code", &value{text: strconv.Itoa(failed.Code)}},
		member{"message", text(failed.Message)},
	)
	if len(failed.Data) > 0 {
		data, err := parseValue(failed.Data)
		if err != nil {
			return nil, fmt.Errorf("record the data of an error: %w", err)
		}
		if data.kind == kindObject {
			data = data.with("errorId", nil)
		}
		object = object.with("data", data)
	}
	return &Answer{(&value{kind: kindObject}).with("error", object)}, nil
}

// parseAnswer reads the JSON of an answer and puts the texts of its text sections into it.
func parseAnswer(text []byte, texts []string) (*Answer, error) {
	v, err := parseValue(text)
	if err != nil {
		return nil, err
	}
	if v.kind != kindObject {
		return nil, errors.New(`the answer is not a JSON object: write {"contents": […]} or {"error": {…}}`)
	}
	if v, err = insertTexts(v, texts, mapContents, true); err != nil {
		return nil, err
	}
	return &Answer{mapContents(v, withDigest)}, nil
}

// withDigest returns a content in which the digest replaces a long blob.
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
