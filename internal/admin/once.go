package admin

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"sync"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Headers of repeated requests.
const (
	idempotencyHeader = "Idempotency-Key"
	repeatedHeader    = "Idempotency-Replayed"
)

// Bounds of an Idempotency-Key, in bytes. It protects the answer that is kept: see secretsOf.
const (
	minIdempotencyKey = 16
	maxIdempotencyKey = 128
)

// maxKept bounds an answer that is kept for repeated requests, in bytes. The repetition of a request with a larger answer is
// refused.
const maxKept = 8 << 10

// running has the writes with an Idempotency-Key that are under way. Its zero value is ready.
type running struct {
	mu  sync.Mutex
	ids map[[32]byte]bool
}

// begin reports whether a write was not under way.
func (r *running) begin(id [32]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[id] {
		return false
	}
	if r.ids == nil {
		r.ids = map[[32]byte]bool{}
	}
	r.ids[id] = true
	return true
}

func (r *running) end(id [32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, id)
}

// A kept is an answer as it is kept.
type kept struct {
	Request  []byte          `json:"request"` // see secrets.hash
	Status   int             `json:"status"`
	Body     json.RawMessage `json:"body,omitempty"`
	Tag      string          `json:"tag,omitempty"`
	Location string          `json:"location,omitempty"`
	Problem  *Problem        `json:"problem,omitempty"` // instead of the above
}

// secrets are made of an Idempotency-Key and the caller. The store has neither: an answer may have the text of a key in it,
// and the body of a request a secret, which a copy of the file alone does not give away.
type secrets struct {
	id   [32]byte // by which the store finds the answer
	seal [32]byte // key by which the answer is sealed
	hash hash.Hash
}

func secretsOf(caller, key string) *secrets {
	root := hmac.New(sha256.New, []byte(key))
	root.Write([]byte("wasmres idempotency\n" + caller))
	from := root.Sum(nil)
	derive := func(use string) (out [32]byte) {
		m := hmac.New(sha256.New, from)
		m.Write([]byte(use))
		return [32]byte(m.Sum(nil))
	}
	mac := derive("request")
	return &secrets{id: derive("id"), seal: derive("seal"), hash: hmac.New(sha256.New, mac[:])}
}

// aead never fails: the key has the length of one.
func (s *secrets) aead() cipher.AEAD {
	block, err := aes.NewCipher(s.seal[:])
	if err != nil {
		panic(err)
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return sealed
}

// once answers a write with an Idempotency-Key: the first one is made, and one that is equal gets the same answer. It never
// makes a write twice: if the server has ended in the middle of the first, a repeated one is refused.
func (s *Server) once(key string, e *endpoint, r *http.Request) (answer, error) {
	if err := checkIdempotencyKey(key); err != nil {
		return answer{}, err
	}
	c := callerOf(r.Context())
	secret := secretsOf(c.name, key)
	if !s.running.begin(secret.id) {
		return answer{}, problem(http.StatusConflict, CodeRepeated, "a request with this Idempotency-Key is under way: wait for its answer")
	}
	defer s.running.end(secret.id)
	secret.hash.Write([]byte(r.Method + "\n" + r.URL.RequestURI() + "\n" + r.Header.Get("If-Match") + "\n" + r.Header.Get("If-None-Match") + "\n"))
	body := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, secret.hash), body}
	earlier, known, err := s.cfg.Once.BeginOnce(r.Context(), secret.id, c.name)
	switch {
	case err != nil:
		return answer{}, err
	case known:
		return repeat(secret, earlier, r)
	}
	a, failed := s.call(e, r)
	if failed == nil && a.stream != nil {
		return a, nil // whose repetition is refused
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil && failed == nil {
		return a, nil // likewise: what the rest of the request was is not known
	}
	s.keep(r.Context(), secret, a, failed)
	return a, failed
}

func checkIdempotencyKey(key string) error {
	if len(key) < minIdempotencyKey || len(key) > maxIdempotencyKey {
		return invalid("Idempotency-Key: it has %d bytes, and must have from %d to %d, as a random UUID has", len(key), minIdempotencyKey, maxIdempotencyKey)
	}
	for _, b := range []byte(key) {
		if b < '!' || b > '~' {
			return invalid("Idempotency-Key: only visible ASCII characters are allowed")
		}
	}
	return nil
}

// keep keeps an answer. It forgets a request that had no effect for a reason that may pass.
func (s *Server) keep(ctx context.Context, secret *secrets, a answer, failed error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime) // the client may be gone
	defer cancel()
	var text []byte
	if !hadNoEffect(failed) {
		var err error
		if text, err = encodeKept(secret, a, failed); err != nil || text == nil {
			return // its repetition is refused
		}
	}
	if err := s.cfg.Once.EndOnce(ctx, secret.id, text); err != nil {
		s.cfg.Logger.Warn("answer to a write not kept, its repetition will be refused", "err", err)
	}
}

// hadNoEffect reports whether a failed write may be sent again as it is.
func hadNoEffect(failed error) bool {
	return errors.Is(failed, tenant.ErrUnavailable) || errors.Is(failed, tenant.ErrClosed) || errors.Is(failed, tenant.ErrConflict) ||
		errors.Is(failed, tenant.ErrTooMany)
}

// encodeKept seals an answer. It returns nil for one that cannot be kept.
func encodeKept(secret *secrets, a answer, failed error) ([]byte, error) {
	k := kept{Request: secret.hash.Sum(nil), Status: cmp.Or(a.status, http.StatusOK), Tag: a.tag, Location: a.location}
	var err error
	if failed != nil {
		if k.Problem = problemOf(failed); k.Problem.Status >= http.StatusInternalServerError {
			return nil, nil // whether it had an effect is not known
		}
	} else if a.body != nil {
		if k.Body, err = json.Marshal(a.body); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(k)
	if err != nil || len(text) > maxKept {
		return nil, err
	}
	return secret.aead().Seal(make([]byte, 0, len(text)+64), nil, text, nil), nil
}

// repeat answers a request that was made before.
func repeat(secret *secrets, earlier []byte, r *http.Request) (answer, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return answer{}, err
	}
	unknown := problem(http.StatusConflict, CodeRepeated, "a request with this Idempotency-Key was made before, and its answer was not kept: "+
		"look what it has done, and use another key")
	if earlier == nil {
		return answer{}, unknown
	}
	text, err := secret.aead().Open(nil, nil, earlier, nil)
	if err != nil {
		return answer{}, unknown
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return answer{}, unknown
	}
	if !hmac.Equal(k.Request, secret.hash.Sum(nil)) {
		return answer{}, problem(http.StatusUnprocessableEntity, CodeKeyReused, "this Idempotency-Key was that of another request: use a new one for each")
	}
	if k.Problem != nil {
		return answer{}, k.Problem
	}
	a := answer{status: k.Status, tag: k.Tag, location: k.Location, repeated: true}
	if k.Body != nil {
		a.body = k.Body
	}
	return a, nil
}

// NewIdempotencyKey makes the Idempotency-Key of one write, which may be sent again with it.
func NewIdempotencyKey() string { return rand.Text() }
