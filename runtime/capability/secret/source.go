package secret

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSize is the most bytes of a secret.
const maxSize = 4 << 10

// A Source reads a secret from where it is stored: an [Env], [File], [Keyring], or a type of the caller's. Its errors
// say what to do, and contain no part of the secret.
type Source interface {
	Secret() (Value, error)
}

// Env is an environment variable, by its name.
type Env string

// Secret implements [Source].
func (e Env) Secret() (Value, error) {
	text, ok := os.LookupEnv(string(e))
	if !ok {
		return Value{}, fmt.Errorf("environment variable %s is not set", string(e))
	}
	return New(text), nil
}

// File is a file, by its name. A line end at the end of the file is not part of the secret.
type File string

// Secret implements [Source].
func (f File) Secret() (Value, error) {
	file, err := os.Open(string(f))
	if err != nil {
		return Value{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSize+3)) // with a line end and one byte too many
	if err := errors.Join(err, file.Close()); err != nil {
		return Value{}, err
	}
	return New(withoutLineEnd(string(text))), nil
}

// withoutLineEnd removes the line end that editors and echo append.
func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
