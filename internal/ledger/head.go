package ledger

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

// A Head says which entry was the newest at a time. The key of a server signs it.
type Head struct {
	Seq  uint64
	Time time.Time
	Hash Hash   // of the entry
	Key  string // public key, as in "ed25519:" and base64
}

// headRow is a head in JSON. The signature is of headContext and of the row without it.
type headRow struct {
	Seq       uint64 `json:"seq"`
	Time      string `json:"time"`
	Head      string `json:"head"`
	Key       string `json:"key"`
	Signature string `json:"signature,omitempty"`
}

const (
	headContext = "wasmres ledger head\n"
	keyPrefix   = "ed25519:"
	maxHead     = 1024 // bytes of a line
)

// nodeID is the short name of a key.
func nodeID(k ed25519.PublicKey) string {
	sum := sha256.Sum256(k)
	return hex.EncodeToString(sum[:8])
}

// loadKey reads the key of a server, which it makes if there is none.
func loadKey(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(file)
	}
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(file); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not a key in PEM: put the right file in its place, or move it away, and another key is made", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s is not an Ed25519 key: put the right file in its place, or move it away, and another key is made", file)
	}
	return key, nil
}

func makeKey(file string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, atomicfile.Write(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

// signHead appends a line with a signed head.
func signHead(to []byte, key ed25519.PrivateKey, at position, now time.Time) ([]byte, Head) {
	public := key.Public().(ed25519.PublicKey)
	h := Head{at.seq, now.UTC().Truncate(time.Millisecond), at.hash, keyPrefix + base64.StdEncoding.EncodeToString(public)}
	r := headRow{Seq: h.Seq, Time: h.Time.Format(timeFormat), Head: h.Hash.String(), Key: h.Key}
	r.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, r.message()))
	text, err := json.Marshal(&r)
	if err != nil {
		panic(err) // a row has nothing that could fail
	}
	return append(append(to, text...), '\n'), h
}

func (r *headRow) message() []byte {
	unsigned := *r
	unsigned.Signature = ""
	text, err := json.Marshal(&unsigned)
	if err != nil {
		panic(err) // a row has nothing that could fail
	}
	return append([]byte(headContext), text...)
}

// parseHead reads a line, without its "\n", and checks its signature.
func parseHead(text []byte) (h Head, err error) {
	var r headRow
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return h, fmt.Errorf("it is not a head: %w", err)
	}
	if again, _ := json.Marshal(&r); !bytes.Equal(again, text) {
		return h, errors.New("no server writes a head in this form")
	}
	h.Seq, h.Key = r.Seq, r.Key
	if h.Time, err = time.Parse(timeFormat, r.Time); err != nil {
		return h, fmt.Errorf("it is not a head: time: %w", err)
	}
	if h.Hash, err = ParseHash(r.Head); err != nil {
		return h, fmt.Errorf("it is not a head: %w", err)
	}
	public, err := parseKey(r.Key)
	if err != nil {
		return h, err
	}
	signature, err := base64.StdEncoding.DecodeString(r.Signature)
	if err != nil || !ed25519.Verify(public, r.message(), signature) {
		return h, errors.New("its signature is not right")
	}
	return h, nil
}

// parseKey reads a public key.
func parseKey(s string) (ed25519.PublicKey, error) {
	text, ok := bytes.CutPrefix([]byte(s), []byte(keyPrefix))
	key, err := base64.StdEncoding.DecodeString(string(text))
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.80q is not a key: write it like %sMCow…", s, keyPrefix)
	}
	return key, nil
}

// heads reads the heads of a ledger one by one.
type heads struct {
	file string
	of   *os.File // nil for none
	in   *bufio.Reader
	line int
	size int64 // of the whole lines read
}

// next returns the next head; io.EOF at the end. What was never ended is the end.
func (h *heads) next() (Head, error) {
	text, err := h.in.ReadSlice('\n')
	h.line++
	if errors.Is(err, io.EOF) {
		return Head{}, io.EOF
	}
	if err == nil {
		var head Head
		if head, err = parseHead(text[:len(text)-1]); err == nil {
			h.size += int64(len(text))
			return head, nil
		}
	}
	torn, readErr := isTorn(h.of, h.size, isLaterHead)
	switch {
	case readErr != nil:
		return Head{}, readErr
	case torn:
		return Head{}, io.EOF
	}
	return Head{}, &DamageError{File: h.file, Line: h.line, What: err.Error()}
}
