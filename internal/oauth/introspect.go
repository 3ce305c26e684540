package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Introspect asks an issuer about a token, for a resource whose audiences these are, beside those of the issuer (RFC 7662). It
// blocks until ctx ends, and no longer than [MaxWait]. An error is an [InvalidError] or an [UnavailableError].
func (v *Verifier) Introspect(ctx context.Context, token string, by *Issuer, resource []string) (*Claims, error) {
	if by.Introspection == nil || token == "" || len(token) > MaxToken {
		return nil, &InvalidError{"it is no JSON Web Token"}
	}
	ctx, cancel := context.WithTimeout(ctx, MaxWait)
	defer cancel()
	text, err := v.askIssuer(ctx, token, by)
	if err != nil {
		v.cfg.Logger.Warn("issuer of tokens not asked about an opaque one", "issuer", by.URL, "err", err)
		return nil, &UnavailableError{err}
	}
	c, err := parseIntrospection(text)
	if err != nil {
		return nil, err
	}
	if c.Issuer != "" && c.Issuer != by.URL {
		return nil, invalid("its issuer is %.200q, not %.200q", c.Issuer, by.URL)
	}
	c.Issuer = by.URL
	if err := c.checkTimes(v.cfg.Now()); err != nil {
		return nil, err
	}
	if c.raw.get("aud") == nil { // which RFC 7662 leaves to the issuer: then it is for whom the operator names
		if err := c.list("client_id", false, &c.Audience); err != nil {
			return nil, err
		}
		resource = nil
	}
	if err := c.checkAudience(resource, by.Audiences); err != nil {
		return nil, err
	}
	return c, nil
}

// parseIntrospection reads what an issuer says of a token (RFC 7662 §2.2). A token without a subject is that of its client.
func parseIntrospection(text []byte) (*Claims, error) {
	var c Claims
	if err := c.parse(text); err != nil {
		return nil, err
	}
	if string(c.raw.get("active")) != "true" {
		return nil, &InvalidError{"its issuer says that it is not active"}
	}
	var kind string
	if err := c.text("token_type", &kind); err != nil || kind != "" && !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "access_token") {
		return nil, &InvalidError{"it is no bearer token"}
	}
	if c.Subject == "" {
		if err := c.text("client_id", &c.Subject); err != nil || c.Subject == "" {
			return nil, &InvalidError{"its issuer names no subject and no client"}
		}
	}
	return &c, nil
}

// askIssuer sends a token to its issuer, and returns the answer.
func (v *Verifier) askIssuer(ctx context.Context, token string, by *Issuer) ([]byte, error) {
	endpoint, err := v.introspectionURL(ctx, by)
	if err != nil {
		return nil, err
	}
	secret, err := by.Introspection.Secret()
	if err != nil {
		return nil, err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(by.Introspection.ClientID), url.QueryEscape(secret)) // RFC 6749 §2.3.1
	text, err := do(v.clientOf(by), req)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, errors.New("the answer is no JSON")
	}
	return text, nil
}

// introspectionURL returns where an issuer is asked, which its metadata may have to say.
func (v *Verifier) introspectionURL(ctx context.Context, by *Issuer) (string, error) {
	if by.Introspection.URL != "" {
		return by.Introspection.URL, nil
	}
	for {
		m, wait, err := v.source(by).metadata()
		switch {
		case err != nil:
			return "", err
		case wait == nil && m.Introspection == "":
			return "", errors.New("its metadata names no introspection_endpoint")
		case wait == nil:
			return m.Introspection, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
