package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Verify returns a reader of the bytes of r that gives the last of them, after d.Size bytes in all, only if their digest is d's,
// else a [*MismatchError]. It reads at most one byte more.
func Verify(r io.Reader, d Descriptor) io.Reader {
	return &verifier{from: io.LimitReader(r, d.Size+1), d: d, hash: sha256.New()}
}

type verifier struct {
	from io.Reader
	d    Descriptor
	hash hash.Hash
	size int64
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.from.Read(p)
	if v.size += int64(n); v.size > v.d.Size {
		return 0, &MismatchError{Want: v.d.Digest, Size: -1}
	}
	v.hash.Write(p[:n])
	if v.size < v.d.Size {
		if err == io.EOF {
			err = &MismatchError{Want: v.d.Digest, Size: v.size}
		}
		return n, err
	}
	if n > 0 || v.size == 0 { // the last bytes
		if got := Digest("sha256:" + hex.EncodeToString(v.hash.Sum(nil))); got != v.d.Digest {
			return 0, &MismatchError{Want: v.d.Digest, Size: v.size, Got: got}
		}
	}
	return n, err
}

// ReadAll reads the bytes that d describes, at most max, and checks them.
func ReadAll(r io.Reader, d Descriptor, max int64) ([]byte, error) {
	if err := CheckDescriptor(d, max); err != nil {
		return nil, err
	}
	return io.ReadAll(Verify(r, d))
}
