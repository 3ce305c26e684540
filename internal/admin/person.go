package admin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// A Person is someone at a web page of this process, known by the admin key or the certificate with which they signed in. It says
// nothing of what they may do: each request looks the key or the name of the certificate up again. The zero value is no one.
type Person struct {
	id  string            // of the key; empty with a certificate
	sum [sha256.Size]byte // of its text

	certificate string    // its name in the settings; empty with a key
	until       time.Time // when the certificate expires
}

// viaPage is how people at web pages reach the server.
const viaPage = "page"

type personKey struct{}

// SignIn returns the person who shows an admin key from an address, and records it. The error is a [*Problem] if the key is not
// valid, or if too many bad ones came from the address.
func (s *Server) SignIn(ctx context.Context, remoteAddr, key string) (Person, error) {
	r := &http.Request{Header: http.Header{"Authorization": {"Bearer " + key}}, RemoteAddr: remoteAddr}
	c, err := s.identifyKey(r)
	if err != nil {
		return Person{}, err
	}
	id, sum, _ := tokens.ParseAdmin(r.Header.Get("Authorization"))
	return Person{id: id, sum: sum}, s.recordSignIn(ctx, c)
}

func (s *Server) recordSignIn(ctx context.Context, c caller) error {
	entry := ledger.Entry{Actor: c.name, Via: viaPage, Tenant: c.tenant, Action: "page.signin"}
	if err := s.cfg.Record(context.WithoutCancel(ctx), entry); err != nil {
		return problem(http.StatusServiceUnavailable, CodeUnavailable, "the ledger cannot record the sign-in: %v", err)
	}
	return nil
}

// SignInByCertificate returns the person whose certificate a connection has, and records it. The error is a [*Problem] if TLS has
// verified none, or the settings name no client of that name.
func (s *Server) SignInByCertificate(ctx context.Context, remoteAddr string, state *tls.ConnectionState) (Person, error) {
	c, err := s.identifyCertificate(state)
	if err != nil {
		s.cfg.Refused(addressOf(&http.Request{RemoteAddr: remoteAddr}))
		return Person{}, err
	}
	return Person{certificate: s.CertificateName(state), until: state.VerifiedChains[0][0].NotAfter}, s.recordSignIn(ctx, c)
}

// CertificateName returns the name by which the settings know the certificate of a connection; empty if they know none.
func (s *Server) CertificateName(state *tls.ConnectionState) string {
	if c := s.clientOf(state); c != nil {
		return c.Name
	}
	return ""
}

// MayUse reports whether a person may send requests on a connection: one who has signed in by a certificate only where that of the same
// name is shown.
func (s *Server) MayUse(p Person, state *tls.ConnectionState) bool {
	return p.certificate == "" || s.CertificateName(state) == p.certificate
}

// identifyPerson returns the caller that a person is as long as their key or certificate is valid.
func (s *Server) identifyPerson(p Person) (caller, error) {
	if p.certificate != "" {
		return s.identifyCertified(p)
	}
	k := s.cfg.Host.Snapshot().AdminKeys[p.id]
	isValid := k != nil && subtle.ConstantTimeCompare(p.sum[:], k.SHA256[:]) == 1 && (k.Expires.IsZero() || time.Now().Before(k.Expires))
	if !isValid {
		return caller{}, problem(http.StatusUnauthorized, CodeNoAccess, "the admin key is not valid any more: it was revoked or has expired")
	}
	return caller{name: "admin key " + k.ID, via: viaPage, role: Role(k.Role), tenant: k.Tenant}, nil
}

func (s *Server) identifyCertified(p Person) (caller, error) {
	if at := s.cfg.Host.Settings().Admin.TLS; at != nil && time.Now().Before(p.until) {
		for _, c := range at.Clients {
			if c.Name == p.certificate {
				return caller{name: "certificate " + c.Name, via: viaPage, role: Role(c.Role), tenant: c.Tenant}, nil
			}
		}
	}
	return caller{}, problem(http.StatusUnauthorized, CodeNoAccess, "the certificate is not valid any more: it has expired, or the settings do not name it")
}

// A Standing is what a person may do now.
type Standing struct {
	Key    string // its ID; empty for a certificate
	Name   string // of the key or certificate
	Role   Role
	Tenant string // the only one that the person may see; empty for all
}

// Standing returns what a person may do. The error is a [*Problem] if their key is not valid any more.
func (s *Server) Standing(p Person) (Standing, error) {
	c, err := s.identifyPerson(p)
	if err != nil {
		return Standing{}, err
	}
	st := Standing{Key: p.id, Name: p.certificate, Role: c.role, Tenant: c.tenant}
	if k := s.cfg.Host.Snapshot().AdminKeys[p.id]; k != nil {
		st.Name = k.Name
	}
	return st, nil
}

// Manages reports whether a person may approve versions and make keys.
func (s Standing) Manages() bool { return s.Role == Operator || s.Role == TenantAdmin }

// Deploys reports whether a person may change which version serves, and see what guests log.
func (s Standing) Deploys() bool { return s.Manages() || s.Role == Deployer }

// Audits reports whether a person may see keys and usage.
func (s Standing) Audits() bool { return s.Manages() || s.Role == Auditor }

// As returns a Client that asks this server on behalf of a person, without a connection. It must not follow lines.
func (s *Server) As(p Person) *Client {
	return &Client{
		at: "this server", base: "http://wasmres",
		http: &http.Client{Transport: inProcess{s, p}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// inProcess has the API answer requests of a person.
type inProcess struct {
	server *Server
	person Person
}

// RoundTrip implements [http.RoundTripper].
func (t inProcess) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	defer r.Body.Close()
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			panic(p)
		} else if p != nil {
			err = errors.New("the answer was cut")
		}
	}()
	to := &response{header: http.Header{}}
	t.server.handler.ServeHTTP(to, r.WithContext(context.WithValue(r.Context(), personKey{}, t.person)))
	if to.isCut {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if to.status == 0 {
		to.status = http.StatusOK
	}
	return &http.Response{
		StatusCode: to.status, Status: fmt.Sprintf("%d %s", to.status, http.StatusText(to.status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: to.header, Body: io.NopCloser(&to.body), ContentLength: int64(to.body.Len()), Request: r,
	}, nil
}

// A response is an answer of the API that is written within this process. It has at most maxAnswer bytes.
type response struct {
	status int
	header http.Header
	body   bytes.Buffer
	isCut  bool
}

// Header implements [http.ResponseWriter].
func (r *response) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write implements [http.ResponseWriter].
func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(p) > maxAnswer {
		r.isCut = true
		return 0, io.ErrShortWrite
	}
	return r.body.Write(p)
}

// SetReadDeadline, SetWriteDeadline and FlushError are what [http.ResponseController] calls; nothing here waits for a client.
func (r *response) SetReadDeadline(time.Time) error  { return nil }
func (r *response) SetWriteDeadline(time.Time) error { return nil }
func (r *response) FlushError() error                { return nil }

// Once returns a Client whose writes are made once for a key, unless that is empty: see [NewIdempotencyKey].
func (c *Client) Once(key string) *Client {
	next := *c
	next.onceKey = key
	return &next
}
