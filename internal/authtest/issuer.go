package authtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// ClientID and Secret authenticate the resource server to an issuer that it asks about opaque tokens.
const (
	ClientID = "wasmres"
	Secret   = "a secret: with %"
)

// An Answer is what an issuer does with a request in place of an answer. The zero Answer is the right one.
type Answer string

// The answers.
const (
	Right      Answer = ""
	Hang       Answer = "hang"        // none, until the client or the test ends
	Cut        Answer = "cut"         // the connection is closed
	Endless    Answer = "endless"     // 1 GiB
	Redirect   Answer = "redirect"    // to the right answer at another path
	Failure    Answer = "failure"     // status 500
	NoJSON     Answer = "no JSON"     // of the right type
	HTML       Answer = "HTML"        // of another type
	OtherName  Answer = "other name"  // metadata of another issuer
	NoKeys     Answer = "no keys"     // an empty set
	TooMany    Answer = "too many"    // 101 keys
	PlainKeys  Answer = "plain keys"  // metadata whose jwks_uri is not encrypted, on another machine
	WeakKeys   Answer = "weak keys"   // RSA of 1024 bits, symmetric ones and those of other curves
	BadEntries Answer = "bad entries" // the right keys among entries that are no keys
)

// An Issuer is an OAuth issuer on a loopback address. It is safe for concurrent use.
type Issuer struct {
	// fixed at creation
	URL    string
	server *httptest.Server
	done   chan struct{} // closed when the test ends

	mu      sync.Mutex
	answers map[string]Answer         // by path
	asked   map[string]int            // requests by path
	keys    []*Key                    // that it publishes
	opaque  map[string]map[string]any // what it says of opaque tokens
	changed chan struct{}             // closed at the next request
}

// Paths of an issuer.
const (
	MetadataPath      = "/.well-known/oauth-authorization-server"
	OpenIDPath        = "/.well-known/openid-configuration"
	KeysPath          = "/keys"
	IntrospectionPath = "/introspect"
)

// New starts an issuer with a key, until the test ends.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{
		done: make(chan struct{}), answers: map[string]Answer{}, asked: map[string]int{}, opaque: map[string]map[string]any{}, changed: make(chan struct{}),
		keys: []*Key{NewKey("first", ES256)},
	}
	i.server = httptest.NewServer(i)
	i.URL = i.server.URL
	tb.Cleanup(func() {
		close(i.done)
		i.server.Close()
	})
	return i
}

// Set makes the answer to requests for a path.
func (i *Issuer) Set(path string, a Answer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answers[path] = a
}

// Publish makes the keys those that the issuer publishes.
func (i *Issuer) Publish(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Key returns the first key that the issuer publishes.
func (i *Issuer) Key() *Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// Asked returns how many requests for a path there were.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

// Await waits until there were n requests for a path.
func (i *Issuer) Await(path string, n int) {
	for {
		i.mu.Lock()
		asked, changed := i.asked[path], i.changed
		i.mu.Unlock()
		if asked >= n {
			return
		}
		<-changed
	}
}

// Know makes what the issuer says of an opaque token. An issuer that was told nothing says that it is not active.
func (i *Issuer) Know(token string, says map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.opaque[token] = says
}

// ServeHTTP implements [http.Handler].
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, right := strings.CutPrefix(r.URL.Path, "/moved")
	i.mu.Lock()
	answer := i.answers[path]
	i.asked[path]++
	close(i.changed)
	i.changed = make(chan struct{})
	i.mu.Unlock()
	if right {
		answer = Right
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	switch answer {
	case Hang:
		select {
		case <-r.Context().Done():
		case <-i.done:
		}
	case Cut:
		panic(http.ErrAbortHandler)
	case Endless:
		i.endless(w)
	case Redirect:
		http.Redirect(w, r, "/moved"+path, http.StatusFound)
	case Failure:
		http.Error(w, "{}", http.StatusInternalServerError)
	case NoJSON:
		io.WriteString(w, `{"keys":[`)
	case HTML:
		header.Set("Content-Type", "text/html")
		io.WriteString(w, "<p>sign in</p>")
	default:
		i.answer(w, r, path, answer)
	}
}

// endless writes 1 GiB of a JSON string.
func (i *Issuer) endless(w io.Writer) {
	chunk := strings.Repeat("a", 1<<20)
	if _, err := io.WriteString(w, `{"keys":"`); err != nil {
		return
	}
	for range 1 << 10 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return
		}
	}
}

func (i *Issuer) answer(w http.ResponseWriter, r *http.Request, path string, a Answer) {
	switch path {
	case MetadataPath, OpenIDPath:
		says := map[string]any{"issuer": i.URL, "jwks_uri": i.URL + KeysPath, "introspection_endpoint": i.URL + IntrospectionPath}
		switch a {
		case OtherName:
			says["issuer"] = i.URL + "/other"
		case PlainKeys:
			says["jwks_uri"] = "http://192.0.2.1/keys"
		}
		writeJSON(w, says)
	case KeysPath:
		writeJSON(w, map[string]any{"keys": i.published(a)})
	case IntrospectionPath:
		i.introspect(w, r)
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w io.Writer, value any) {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		panic(err)
	}
}

// published returns the entries of the key set.
func (i *Issuer) published(a Answer) []any {
	i.mu.Lock()
	defer i.mu.Unlock()
	entries := []any{}
	switch a {
	case NoKeys:
		return entries
	case WeakKeys:
		for _, k := range i.keys {
			entries = append(entries, k.weak()...)
		}
		return entries
	case TooMany:
		for n := range 101 {
			entries = append(entries, NewKey(fmt.Sprint("key", n), EdDSA).JWK())
		}
	case BadEntries:
		entries = append(entries, "no key", 1, nil, map[string]any{"kty": "new"}, map[string]any{"kty": "RSA", "n": "!", "e": "AQAB"}, map[string]any{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"})
	}
	for _, k := range i.keys {
		entries = append(entries, k.JWK())
	}
	return entries
}

// introspect answers what the issuer knows of a token (RFC 7662).
func (i *Issuer) introspect(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if r.Method != http.MethodPost || id != ClientID || secret != "a+secret%3A+with+%25" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	i.mu.Lock()
	says := i.opaque[r.PostFormValue("token")]
	i.mu.Unlock()
	if says == nil {
		says = map[string]any{"active": false}
	}
	writeJSON(w, says)
}

// Claims returns the claims of a good token (RFC 9068 §2.2) for an audience, which lasts an hour, with changes: nil removes a claim.
func (i *Issuer) Claims(audience any, changes ...any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": i.URL, "sub": "ada", "client_id": "app", "jti": "1", "aud": audience,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for n := 0; n+1 < len(changes); n += 2 {
		if name := changes[n].(string); changes[n+1] == nil {
			delete(c, name)
		} else {
			c[name] = changes[n+1]
		}
	}
	return c
}

// Token returns a good token for an audience, but for changes of its claims.
func (i *Issuer) Token(audience any, changes ...any) string {
	return i.Key().Sign(nil, i.Claims(audience, changes...))
}
