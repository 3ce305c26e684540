package tokens

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/strict"
	"github.com/wasmres/wasmres/runtime/auth"
)

// Version is the version of the format.
const Version = "1.0"

// Max is how many tokens a file may have.
const Max = strict.MaxEntries

// Never stands in a file for the end of a token that has none.
const Never = "never"

// A Token is what a file says of one token. The token itself is not in the file.
type Token struct {
	ID      string   `yaml:"id,required" check:"id" doc:"the part of the token between wr_ and the next _"`
	Name    string   `yaml:"name,required" check:"name" doc:"who the client is: the subject that providers and the access log get"`
	SHA256  string   `yaml:"sha256,required" check:"sha256" doc:"of the token, in hex"`
	Expires string   `yaml:"expires,required" check:"expires" doc:"when the token ends, as in 2027-02-21T15:00:00Z; never for a token without an end"`
	URIs    []string `yaml:"uris,required,nonempty" check:"uri" doc:"the URIs that the client may see, as notes://drafts/**; ** permits all"`
}

// A File is a file of tokens.
type File struct {
	Version string  `yaml:"version,required" check:"version" doc:"the version of the format"`
	Tokens  []Token `yaml:"tokens,required" unique:"ID" doc:"the tokens; one name may have several"`
}

var (
	namePattern = lazyregexp.New(`^[A-Za-z0-9_.@+-]{1,64}$`)
	hashPattern = lazyregexp.New(`^[0-9a-f]{64}$`)
)

var format = strict.Format{Rules: map[string]strict.Rule{
	"id": strict.TextRule(accept(IsID, "an id: an id has 12 letters from a to z and digits from 2 to 7"), nil),
	"name": strict.TextRule(accept(namePattern.MatchString, `a name: a name has letters, digits and any of "_.@+-", at most 64`),
		strict.Schema{"pattern": namePattern.String()}),
	"sha256":  strict.TextRule(accept(hashPattern.MatchString, "a SHA-256: it has 64 hex digits in lower case"), nil),
	"expires": strict.TextRule(parseExpires, nil),
	"uri":     strict.TextRule(parsePattern, nil),
	"version": strict.NewRule(parseVersion, strict.Quote, strict.Schema{"const": Version}, strict.Text, strict.Number),
}}

// accept makes the reader of a text that must be as is reports. kind says what such a text is.
func accept(is func(string) bool, kind string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !is(s) {
			return "", fmt.Errorf("%q is not %s", strict.Clip(s), kind)
		}
		return s, nil
	}
}

func parseExpires(s string) (string, error) {
	if _, err := expiry(s); err != nil {
		return "", err
	}
	return s, nil
}

// expiry gives the end of a token; zero for never.
func expiry(s string) (time.Time, error) {
	if s == Never {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("%q is not a time: write it like 2027-02-21T15:00:00Z, or %s", strict.Clip(s), Never)
	}
	return t, nil
}

func parsePattern(s string) (string, error) {
	_, err := auth.ParsePattern(s)
	return s, err
}

func parseVersion(s string) (string, error) {
	if s != Version {
		return "", fmt.Errorf("the version is %q, expected %q", strict.Clip(s), Version)
	}
	return s, nil
}

// CheckName says what is wrong with the name of a token; nil for nothing.
func CheckName(s string) error {
	_, err := accept(namePattern.MatchString, `a name: a name has letters, digits and any of "_.@+-", at most 64`)(s)
	return err
}

// Decode reads the text of a file; name stands for the file in errors, which are [strict.Problems].
func Decode(name string, text []byte) (*File, error) {
	f := &File{}
	if err := format.Decode(name, text, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Read reads a file.
func Read(file string) (*File, error) {
	text, err := strict.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Decode(file, text)
}

// Encode gives the text of a file.
func (f *File) Encode() []byte { return format.Encode(f) }

// Write writes the file in one step, so that no program reads half of it. It keeps the mode of an existing file; a new one can
// be read by its owner only. Comments of an existing file are lost.
func (f *File) Write(file string) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	return atomicfile.Write(file, f.Encode(), mode)
}

// patterns gives what a token permits. The file has been checked.
func (t *Token) patterns() ([]auth.Pattern, error) {
	list := make([]auth.Pattern, 0, len(t.URIs))
	for _, uri := range t.URIs {
		p, err := auth.ParsePattern(uri)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// hash decodes the SHA-256 of a token.
func (t *Token) hash() (sum [32]byte, err error) {
	_, err = hex.Decode(sum[:], []byte(t.SHA256))
	return sum, err
}
