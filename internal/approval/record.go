package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
)

// A Record is the decision about one module.
type Record struct {
	Digest  string         // of the module, as "sha256:…"
	Name    string         // of the provider, by its manifest
	Version string         // likewise
	Origin  string         // absolute path of its file, symbolic links resolved, or its repository
	Signer  string         // the keys whose signatures were verified; empty for none
	Asked   []Requested    // what it requested
	Policy  *policy.Policy // what is granted; empty if Revoked
	When    time.Time
	By      string // the user
	Pinned  bool   // valid for this digest only, and not for a new version
	Revoked bool   // the module is refused, whatever earlier versions were granted
	// Inherited says that the user did not decide about this module: it ran with the grants of an earlier version,
	// whose record remains the one that counts. This one exists so that it can be listed and revoked.
	Inherited bool
}

const (
	format    = 1
	maxRecord = 4 << 20 // bytes: a manifest has at most 1 MiB, and so has a policy
)

// stored is a Record in its file.
type stored struct {
	Format    int         `json:"format"`
	Digest    string      `json:"digest"`
	Name      string      `json:"name"`
	Version   string      `json:"version"`
	Origin    string      `json:"origin"`
	Signer    string      `json:"signer,omitempty"`
	Asked     []Requested `json:"asked"`
	Policy    string      `json:"policy"`
	When      time.Time   `json:"when"`
	By        string      `json:"by"`
	Pinned    bool        `json:"pinned"`
	Revoked   bool        `json:"revoked"`
	Inherited bool        `json:"inherited"`
}

func (r *Record) encode() ([]byte, error) {
	text, err := json.MarshalIndent(stored{
		Format: format, Digest: r.Digest, Name: r.Name, Version: r.Version, Origin: r.Origin, Signer: r.Signer, Asked: r.Asked,
		Policy: string(r.Policy.Format()), When: r.When.UTC(), By: r.By, Pinned: r.Pinned, Revoked: r.Revoked,
		Inherited: r.Inherited,
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	if len(text) > maxRecord {
		return nil, fmt.Errorf("the approval has %d bytes, at most %d are allowed", len(text), maxRecord)
	}
	return append(text, '\n'), nil
}

// decode reads a record. It refuses a text that encode does not write.
func decode(text []byte) (*Record, error) {
	if len(text) > maxRecord+1 {
		return nil, errors.New("it is too large")
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, errors.New("it is damaged")
	}
	if head.Format != format {
		return nil, fmt.Errorf("it has format %d, this version of wasmres reads %d: use the version that wrote it", head.Format, format)
	}
	var s stored
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, errors.New("it is damaged")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is damaged: there is text after its end")
	}
	if err := CheckDigest(s.Digest); err != nil {
		return nil, err
	}
	p, err := policy.Parse("its policy", []byte(s.Policy))
	if err != nil {
		return nil, err
	}
	return &Record{
		Digest: s.Digest, Name: s.Name, Version: s.Version, Origin: s.Origin, Signer: s.Signer, Asked: s.Asked, Policy: p,
		When: s.When, By: s.By, Pinned: s.Pinned, Revoked: s.Revoked, Inherited: s.Inherited,
	}, nil
}

const digestPrefix = "sha256:"

// CheckDigest accepts "sha256:" and 64 hexadecimal digits in lower case.
func CheckDigest(digest string) error {
	hex, ok := strings.CutPrefix(digest, digestPrefix)
	other := func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }
	if !ok || len(hex) != 64 || strings.ContainsFunc(hex, other) {
		return fmt.Errorf("%.80q is not a digest: write %s and 64 hexadecimal digits", digest, digestPrefix)
	}
	return nil
}
