// Package seal encrypts what must not lie open on a disk, and keeps the keys for that.
//
// A sealed value is bound to what it is for: see [Keys.Seal]. Keys are in a file that only its owner can read, or in a credential
// of systemd. The first key of the file seals; all of them open, so that values can be sealed anew while the key is replaced.
package seal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/wasmres/wasmres/internal/atomicfile"
)

// Bounds of Keys.
const (
	MaxValue = 64 << 10 // bytes of a value
	maxKeys  = 4
	maxFile  = 4 << 10 // bytes
)

// What a sealed value begins with: a version, and eight bytes that tell keys apart. Nonce, ciphertext and tag follow.
const (
	version  = 1
	idLen    = 8
	headLen  = 1 + idLen
	Overhead = headLen + chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead // bytes that a sealed value has more than the value
)

// prefix begins each line of a key file.
const prefix = "wasmres-seal-1 "

// Errors of Open.
var (
	// ErrKey says that a value was sealed by a key that is not among the Keys.
	ErrKey = errors.New("the value was sealed by another key")
	// ErrDamaged says that a value is not as it was sealed, or for something else.
	ErrDamaged = errors.New("the sealed value is damaged, or is that of something else")
)

// A key is one of Keys.
type key struct {
	secret [chacha20poly1305.KeySize]byte
	id     [idLen]byte
}

func newKey(secret []byte) key {
	k := key{secret: [chacha20poly1305.KeySize]byte(secret)}
	sum := sha256.Sum256(append([]byte("wasmres seal id\n"), secret...))
	copy(k.id[:], sum[:])
	return k
}

// Keys seal and open values. They do not change. No printed form has a key in it.
type Keys struct{ all []key }

// New makes Keys with one new key.
func New() *Keys {
	var secret [chacha20poly1305.KeySize]byte
	_, _ = rand.Read(secret[:]) // never fails
	return &Keys{[]key{newKey(secret[:])}}
}

// String implements [fmt.Stringer].
func (k *Keys) String() string { return fmt.Sprintf("%d keys", len(k.all)) }

// GoString implements [fmt.GoStringer].
func (k *Keys) GoString() string { return k.String() }

// With returns Keys that seal by a new key, and open by those of k, too.
func (k *Keys) With(next *Keys) *Keys { return &Keys{append(append([]key{}, next.all...), k.all...)} }

// First returns the key that seals alone.
func (k *Keys) First() *Keys { return &Keys{k.all[:1:1]} }

// Len is how many keys there are.
func (k *Keys) Len() int { return len(k.all) }

// IsFirst reports whether a value was sealed by the key that seals now.
func (k *Keys) IsFirst(sealed []byte) bool {
	return len(sealed) >= headLen && sealed[0] == version && bytes.Equal(sealed[1:headLen], k.all[0].id[:])
}

// Seal encrypts a value of at most MaxValue bytes for a purpose, a list of texts. Only the same purpose opens it.
func (k *Keys) Seal(value []byte, purpose ...string) ([]byte, error) {
	if len(value) > MaxValue {
		return nil, fmt.Errorf("seal: the value has %d bytes, at most %d are allowed", len(value), MaxValue)
	}
	first := &k.all[0]
	aead, err := chacha20poly1305.NewX(first.secret[:])
	if err != nil {
		return nil, err
	}
	out := make([]byte, headLen+chacha20poly1305.NonceSizeX, len(value)+Overhead)
	out[0] = version
	copy(out[1:], first.id[:])
	nonce := out[headLen:]
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(out, nonce, value, associated(out[:headLen], purpose)), nil
}

// Open decrypts a value that was sealed for a purpose. The error may be ErrKey or ErrDamaged; it has no part of the value.
func (k *Keys) Open(sealed []byte, purpose ...string) ([]byte, error) {
	if len(sealed) < Overhead || len(sealed) > MaxValue+Overhead || sealed[0] != version {
		return nil, ErrDamaged
	}
	head, nonce, text := sealed[:headLen], sealed[headLen:headLen+chacha20poly1305.NonceSizeX], sealed[headLen+chacha20poly1305.NonceSizeX:]
	for i := range k.all {
		if !bytes.Equal(head[1:], k.all[i].id[:]) {
			continue
		}
		aead, err := chacha20poly1305.NewX(k.all[i].secret[:])
		if err != nil {
			return nil, err
		}
		value, err := aead.Open(nil, nonce, text, associated(head, purpose))
		if err != nil {
			return nil, ErrDamaged
		}
		return value, nil
	}
	return nil, ErrKey
}

// associated returns the associated data: the head, and each text of the purpose after its length.
func associated(head []byte, purpose []string) []byte {
	data := bytes.Clone(head)
	for _, text := range purpose {
		data = binary.AppendUvarint(data, uint64(len(text)))
		data = append(data, text...)
	}
	return data
}

// Read reads the keys of a file, which no other user may read.
func Read(file string) (*Keys, error) { return read(file, 0o077) }

// ReadCredential reads the keys of a credential of systemd. Where its access list lets one user read it, its mode shows the rights
// of that user as those of a group.
func ReadCredential(file string) (*Keys, error) { return read(file, 0o007) }

// read reads the keys of a file whose mode has no bit of refused.
func read(file string, refused fs.FileMode) (*Keys, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", file)
	case mode.Perm()&refused != 0 && runtime.GOOS != "windows": // which has no such modes
		return nil, fmt.Errorf("other users can read %s (mode %#o): run chmod 600 %s, and replace the key if they have read it", file, mode.Perm(), file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	keys, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

// parse reads the text of a key file. Its errors have no part of it.
func parse(text []byte) (*Keys, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	k := &Keys{}
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		encoded, found := strings.CutPrefix(strings.TrimRight(line, "\r"), prefix)
		secret, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
		if !found || err != nil || len(secret) != chacha20poly1305.KeySize {
			return nil, fmt.Errorf("line %d is not a key: 'wasmres secret new-key' writes one", i+1)
		}
		one := newKey(secret)
		for _, other := range k.all {
			if other.id == one.id {
				return nil, fmt.Errorf("line %d has a key that is there already", i+1)
			}
		}
		if k.all = append(k.all, one); len(k.all) > maxKeys {
			return nil, fmt.Errorf("there are more than %d keys", maxKeys)
		}
	}
	return k, nil
}

// encode returns the text of a key file.
func (k *Keys) encode() []byte {
	var text []byte
	for i := range k.all {
		text = append(text, prefix...)
		text = base64.RawURLEncoding.AppendEncode(text, k.all[i].secret[:])
		text = append(text, '\n')
	}
	return text
}

// Write replaces a key file in one step. Only its owner can read it.
func (k *Keys) Write(file string) error { return atomicfile.Write(file, k.encode(), 0o600) }

// WriteNew writes a key file, unless there is a file.
func (k *Keys) WriteNew(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(k.encode())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}
