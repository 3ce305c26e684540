package secret

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSize is how many bytes a secret may have.
const maxSize = 4 << 10

// A Source is where a secret comes from: [Env], [File], [Keyring], or one of your own. Its errors say what to do, and
// nothing of the secret.
type Source interface {
	Secret() (Value, error)
}

// Env is the environment variable of that name.
type Env string

// Secret implements [Source].
func (e Env) Secret() (Value, error) {
	text, ok := os.LookupEnv(string(e))
	if !ok {
		return Value{}, fmt.Errorf("environment variable %s is not set", string(e))
	}
	return New(text), nil
}

// File is the file of that name, without a line end at its end.
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

// withoutLineEnd takes away what editors and echo put at the end.
func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
