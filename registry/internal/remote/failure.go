package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// A failure says what failed on what, why, and what to do. Its text has no secrets.
type failure struct {
	text string
	is   error // what errors.Is finds; nil for nothing
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.is }

// explain makes an error of oras-go or net/http a [failure]. doing says what was tried on what.
func (e *endpoint) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if known := (*failure)(nil); errors.As(err, &known) {
		return known
	}
	if ctx.Err() != nil {
		return &failure{doing + ": " + context.Cause(ctx).Error(), ctx.Err()}
	}
	why, is := e.reason(err)
	return &failure{doing + ": " + why, is}
}

// reason says why a request failed and what to do, and which error of the package oci that is.
func (e *endpoint) reason(err error) (string, error) {
	var (
		refused  *refusedError
		stall    *stallError
		cred     *credentialsError
		answer   *errcode.ErrorResponse
		mismatch *oci.MismatchError
		unknown  x509.UnknownAuthorityError
		wrong    *tls.CertificateVerificationError
		network  net.Error
	)
	switch {
	case errors.As(err, &refused):
		return refused.text + ": " + refused.advice, nil
	case errors.As(err, &stall):
		return stall.Error() + ": try again later, or use a mirror", oci.ErrInterrupted
	case errors.As(err, &cred):
		return cred.Error(), oci.ErrUnauthorized
	case errors.As(err, &mismatch):
		return mismatch.Error(), mismatch
	case errors.As(err, &answer):
		return e.answered(answer)
	case errors.Is(err, errdef.ErrNotFound):
		return "the registry does not have it: check the name; a private repository may need a login", oci.ErrNotFound
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return "the registry asks for a user and a password: " + e.login(), oci.ErrUnauthorized
	case errors.Is(err, errdef.ErrTooManyPages), errors.Is(err, errdef.ErrSizeExceedsLimit):
		return "the registry answered more than is accepted: " + e.quote(err.Error()), nil
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the registry speaks HTTP, not HTTPS: permit that for it, as with --plain-http, if you trust the network", nil
	case errors.As(err, &unknown), errors.As(err, &wrong):
		return "its certificate is not accepted: " + e.quote(lastCause(err).Error()) + ": trust the authority that signed it, as with --registry-ca", nil
	case strings.Contains(err.Error(), "failed to decode"): // by oras-go, which has no type for it
		return fmt.Sprintf("the answer of the registry is not the JSON that was asked for, or has more than %d bytes", maxMetadata), nil
	case strings.Contains(err.Error(), "missing required header"), strings.Contains(err.Error(), "unknown response Content-Length"): // likewise
		return "the answer lacks a header that clients of OCI registries need: " + e.quote(err.Error()) + ": use another registry", nil
	case isBroken(err) || errors.As(err, &network):
		return "no connection, or it broke: " + e.quote(lastCause(err).Error()) + ": check the host, the network and the proxy",
			oci.ErrInterrupted
	}
	return e.quote(err.Error()), nil
}

// login says how to log in.
func (e *endpoint) login() string {
	if !e.mayLogIn() {
		return "push the module as a file, or have the operator permit the use of the server's credentials for " + e.host + ", as by registries.credentials in serve.yaml"
	}
	return "log in with wasmres login " + e.host
}

// answered says what a registry answered instead of what was asked for.
func (e *endpoint) answered(a *errcode.ErrorResponse) (string, error) {
	text := fmt.Sprintf("the registry answered %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	for i, said := range a.Errors {
		if i == maxSaid {
			break
		}
		text += ", " + e.quote(said.Code+" "+said.Message)
	}
	switch a.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Sprintf("the registry answered %d to the user and password, if there were some: %s", a.StatusCode, e.login()), oci.ErrUnauthorized
	case http.StatusForbidden:
		return text + ": the user may not do this there", oci.ErrUnauthorized
	case http.StatusNotFound:
		return text + ": check the name; a private repository may need a login", oci.ErrNotFound
	case http.StatusTooManyRequests:
		return text + ": try again later; a login or a mirror may permit more", oci.ErrInterrupted
	case http.StatusInsufficientStorage:
		return text + ": its disk is full", nil
	}
	if a.StatusCode >= http.StatusInternalServerError {
		return text + ": try again later", oci.ErrInterrupted
	}
	return text, nil
}

// lacksBlob reports whether a registry refused a manifest because it has not a blob that the manifest names.
func lacksBlob(err error) bool {
	var answer *errcode.ErrorResponse
	return errors.As(err, &answer) && slices.ContainsFunc(answer.Errors, func(said errcode.Error) bool {
		return said.Code == errcode.ErrorCodeManifestBlobUnknown
	})
}

// maxSaid bounds how many errors of one answer are quoted.
const maxSaid = 3

// isBroken reports whether a connection ended early.
func isBroken(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED)
}

// lastCause returns the innermost error of a chain: those around it quote URLs.
func lastCause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// query matches what may have a secret in the URLs of a text: user information, and the query of a signed URL.
var query = lazyregexp.New(`(://)[^/@\s"]*@|\?[^\s"]*`)

// quote makes a text of a registry or about one fit to be shown: one line, short, without secrets.
func (e *endpoint) quote(text string) string {
	text = query.Get().ReplaceAllString(e.secrets.redact(text), "$1")
	return clip(strings.TrimSpace(text))
}
