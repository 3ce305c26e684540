package admin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/tenant"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 8 << 20

// ErrUnreachable says that no server answers.
var ErrUnreachable = errors.New("no server answers")

// A Client asks a server. It is safe for concurrent use. The caller closes it.
//
// The error of a request is a [*Problem] if the server refused it, and has ErrUnreachable in its chain if there is none.
type Client struct {
	at   string // for errors: the path of the socket, or a URL
	base string // URL before a path
	key  string // for the header Authorization; empty for none
	http *http.Client

	pageSize int    // items on a page; 0 is MaxPage
	onceKey  string // of writes; empty for none
}

// NewClient makes a Client of the server with a socket. It connects with the first request.
func NewClient(socket string) *Client {
	return newClient(&Client{at: socket, base: "http://wasmres"}, &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if err := checkPath(socket); err != nil {
				return nil, err
			}
			return dial(ctx, socket)
		},
	})
}

// A Remote says where a server is, and who asks it.
type Remote struct {
	URL string      // as https://host:9443
	Key string      // an admin key; empty for none
	TLS *tls.Config // for other authorities than those of the system, or with a certificate; may be nil
}

// NewRemoteClient makes a Client of a server on another machine. It connects with the first request, and follows no redirection.
func NewRemoteClient(to Remote) (*Client, error) {
	u, err := url.Parse(to.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of an admin API: write it as https://HOST:PORT", to.URL)
	}
	base := "https://" + u.Host
	config := to.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.MinVersion = tls.VersionTLS12
	return newClient(&Client{at: base, base: base, key: to.Key}, &http.Transport{
		DialContext: (&net.Dialer{Timeout: 2 * dialTime}).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: headTime,
	}), nil
}

func newClient(c *Client, t *http.Transport) *Client {
	t.MaxConnsPerHost, t.MaxResponseHeaderBytes, t.IdleConnTimeout = 4, maxHeader, idleTime/2
	c.http = &http.Client{
		Timeout: reloadTime + readTime, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Through returns a Client whose requests and answers pass through what wrap makes of the transport of c.
func (c *Client) Through(wrap func(http.RoundTripper) http.RoundTripper) *Client {
	next, by := *c, *c.http
	by.Transport = wrap(by.Transport)
	next.http = &by
	return &next
}

// Close closes connections without a request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Answers reports whether the server answers within a time, whatever it answers.
func (c *Client) Answers(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := c.Node(ctx)
	var refused *Problem
	return err == nil || errors.As(err, &refused)
}

// Node returns the server.
func (c *Client) Node(ctx context.Context) (n Node, err error) {
	return n, c.do(ctx, http.MethodGet, "/v1/node", nil, &n)
}

// Tenants returns a page of the tenants, after a cursor, or of those with a problem.
func (c *Client) Tenants(ctx context.Context, cursor string, onlyStale bool) (p Page[TenantSummary], err error) {
	return p, c.do(ctx, http.MethodGet, "/v1/tenants?"+c.pageQuery(cursor)+"&stale="+strconv.FormatBool(onlyStale), nil, &p)
}

// SearchTenants is Tenants for those whose ID has a text in it.
func (c *Client) SearchTenants(ctx context.Context, part, cursor string, onlyStale bool) (p Page[TenantSummary], err error) {
	query := "&search=" + url.QueryEscape(part) + "&stale=" + strconv.FormatBool(onlyStale)
	return p, c.do(ctx, http.MethodGet, "/v1/tenants?"+c.pageQuery(cursor)+query, nil, &p)
}

// Tenant returns a tenant.
func (c *Client) Tenant(ctx context.Context, id string) (t Tenant, err error) {
	return t, c.do(ctx, http.MethodGet, "/v1/tenants/"+url.PathEscape(id), nil, &t)
}

func tenantPath(id string) string { return "/v1/tenants/" + url.PathEscape(id) }

// NewTenant makes a tenant that there is not yet, by what its file would have.
func (c *Client) NewTenant(ctx context.Context, id string, text []byte) (t TenantSummary, err error) {
	header := http.Header{"If-None-Match": {"*"}}
	return t, c.send(ctx, http.MethodPut, tenantPath(id), header, yamlType, bytes.NewReader(text), &t)
}

// SetTenant makes or changes a tenant, by what its file would have.
func (c *Client) SetTenant(ctx context.Context, id string, text []byte) (t TenantSummary, err error) {
	return t, c.do(ctx, http.MethodPut, tenantPath(id), file(text), &t)
}

// RemoveTenant removes a tenant.
func (c *Client) RemoveTenant(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, tenantPath(id), nil, nil)
}

// DisableTenant refuses the requests of a tenant's clients, or accepts them again.
func (c *Client) DisableTenant(ctx context.Context, id string, disabled bool) (t TenantSummary, err error) {
	verb := "/enable"
	if disabled {
		verb = "/disable"
	}
	return t, c.do(ctx, http.MethodPost, tenantPath(id)+verb, nil, &t)
}

// ExportTenant returns a tenant as a file.
func (c *Client) ExportTenant(ctx context.Context, id string) (text []byte, err error) {
	return text, c.do(ctx, http.MethodGet, tenantPath(id)+"/file", nil, &text)
}

// AdoptTenant gives a tenant another owner.
func (c *Client) AdoptTenant(ctx context.Context, id string, owner tenant.Owner) (t TenantSummary, err error) {
	return t, c.do(ctx, http.MethodPost, tenantPath(id)+"/adopt", Adoption{owner}, &t)
}

// SetProvider makes or changes a provider of a tenant, by what the tenant's file would have after its name.
func (c *Client) SetProvider(ctx context.Context, id, provider string, text []byte) (t TenantSummary, err error) {
	return t, c.do(ctx, http.MethodPut, tenantPath(id)+"/providers/"+url.PathEscape(provider), file(text), &t)
}

// SetPlan makes or changes a plan, by what serve.yaml would have after its name.
func (c *Client) SetPlan(ctx context.Context, name string, text []byte) (p Plan, err error) {
	return p, c.do(ctx, http.MethodPut, "/v1/plans/"+url.PathEscape(name), file(text), &p)
}

// RemovePlan removes a plan.
func (c *Client) RemovePlan(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, "/v1/plans/"+url.PathEscape(name), nil, nil)
}

// Plans returns a page of the plans, after a cursor.
func (c *Client) Plans(ctx context.Context, cursor string) (p Page[Plan], err error) {
	return p, c.do(ctx, http.MethodGet, "/v1/plans?"+c.pageQuery(cursor), nil, &p)
}

// Keys returns a page of the keys of a tenant, after a cursor; an empty tenant is all of them.
func (c *Client) Keys(ctx context.Context, tenantID, cursor string) (p Page[Key], err error) {
	path := "/v1/keys"
	if tenantID != "" {
		path = "/v1/tenants/" + url.PathEscape(tenantID) + "/keys"
	}
	return p, c.do(ctx, http.MethodGet, path+"?"+c.pageQuery(cursor), nil, &p)
}

func (c *Client) pageQuery(cursor string) string {
	return "limit=" + strconv.Itoa(cmp.Or(c.pageSize, MaxPage)) + "&cursor=" + url.QueryEscape(cursor)
}

// WithPages returns a Client whose lists have pages of at most so many items.
func (c *Client) WithPages(size int) *Client {
	next := *c
	next.pageSize = size
	return &next
}

// CreateKey makes a key of a tenant.
func (c *Client) CreateKey(ctx context.Context, tenantID string, k NewKey) (made IssuedKey, err error) {
	return made, c.do(ctx, http.MethodPost, "/v1/tenants/"+url.PathEscape(tenantID)+"/keys", k, &made)
}

// RevokeKey revokes a key.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/v1/keys/"+url.PathEscape(id), nil, nil)
}

// RotateKey makes a key that replaces another, which is good for a time then.
func (c *Client) RotateKey(ctx context.Context, id string, grace time.Duration) (made IssuedKey, err error) {
	return made, c.do(ctx, http.MethodPost, "/v1/keys/"+url.PathEscape(id)+"/rotate", Rotation{int64(grace / time.Second)}, &made)
}

// Secrets returns a page of the secrets of a tenant, after a cursor.
func (c *Client) Secrets(ctx context.Context, tenantID, cursor string) (p Page[Secret], err error) {
	return p, c.do(ctx, http.MethodGet, tenantPath(tenantID)+"/secrets?"+c.pageQuery(cursor), nil, &p)
}

// SetSecret sets a secret of a tenant.
func (c *Client) SetSecret(ctx context.Context, tenantID, name, value string) (s Secret, err error) {
	return s, c.do(ctx, http.MethodPut, tenantPath(tenantID)+"/secrets/"+url.PathEscape(name), NewSecret{value}, &s)
}

// RemoveSecret removes a secret of a tenant.
func (c *Client) RemoveSecret(ctx context.Context, tenantID, name string) error {
	return c.do(ctx, http.MethodDelete, tenantPath(tenantID)+"/secrets/"+url.PathEscape(name), nil, nil)
}

// RotateSecretKey has all secrets sealed by a new key.
func (c *Client) RotateSecretKey(ctx context.Context) (r KeyRotation, err error) {
	return r, c.do(ctx, http.MethodPost, "/v1/secrets/rotate-key", nil, &r)
}

// AdminKeys returns a page of the admin keys, after a cursor.
func (c *Client) AdminKeys(ctx context.Context, cursor string) (p Page[AdminKey], err error) {
	return p, c.do(ctx, http.MethodGet, "/v1/admin-keys?"+c.pageQuery(cursor), nil, &p)
}

// CreateAdminKey makes an admin key.
func (c *Client) CreateAdminKey(ctx context.Context, k NewAdminKey) (made IssuedAdminKey, err error) {
	return made, c.do(ctx, http.MethodPost, "/v1/admin-keys", k, &made)
}

// RevokeAdminKey revokes an admin key.
func (c *Client) RevokeAdminKey(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "/v1/admin-keys/"+url.PathEscape(id), nil, nil)
}

// Top returns what the server does now, and its busiest tenants, at most so many.
func (c *Client) Top(ctx context.Context, most int) (t Top, err error) {
	return t, c.do(ctx, http.MethodGet, "/v1/top?limit="+strconv.Itoa(most), nil, &t)
}

// Reload has the server read its configuration again.
func (c *Client) Reload(ctx context.Context) (r Report, err error) {
	return r, c.do(ctx, http.MethodPost, "/v1/reload", nil, &r)
}

// do sends a request with a body, unless it is nil, and reads the answer, which is JSON unless it is a *[]byte.
func (c *Client) do(ctx context.Context, method, path string, body, answer any) error {
	return c.doIf(ctx, method, path, "", body, answer)
}

// doIf is do for a write of an object that must have a tag, unless that is empty.
func (c *Client) doIf(ctx context.Context, method, path, tag string, body, answer any) error {
	text, contentType := []byte(nil), ""
	switch b := body.(type) {
	case nil:
	case file:
		text, contentType = b, yamlType
	default:
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
		contentType = jsonType
	}
	return c.send(ctx, method, path, ifMatch(tag), contentType, bytes.NewReader(text), answer)
}

// A tagged is an answer with its ETag, which a later write may require.
type tagged struct {
	answer any
	tag    *string
}

// ifMatch has a write fail unless its object has a tag still; an empty one has it never fail.
func ifMatch(tag string) http.Header {
	if tag == "" {
		return http.Header{}
	}
	return http.Header{"If-Match": {tag}}
}

// file is a body as a file has it.
type file []byte

// send sends a request, and reads the answer as do does.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, contentType string, body io.Reader, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	r.Header = header
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.onceKey != "" {
		r.Header.Set(idempotencyHeader, c.onceKey)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", c.at, err)
	case len(read) > maxAnswer:
		return fmt.Errorf("the answer of %s has more than %d bytes", c.at, maxAnswer)
	case response.StatusCode >= 300:
		return c.problem(response, read)
	case answer == nil:
		return nil
	}
	switch to := answer.(type) {
	case *[]byte: // no JSON
		*to = read
		return nil
	case tagged:
		*to.tag, answer = response.Header.Get("ETag"), to.answer
	}
	if err := json.Unmarshal(read, answer); err != nil {
		return fmt.Errorf("the answer of %s is not as expected: %w: is it a server of another version?", c.at, err)
	}
	return nil
}

// unreachable says why a request was not answered.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	var at *net.OpError
	if errors.As(err, &at) && at.Op == "dial" {
		err = at.Err
	}
	return fmt.Errorf("%w at %s: %w", ErrUnreachable, c.at, err)
}

func (c *Client) problem(r *http.Response, body []byte) error {
	p := &Problem{}
	if r.Header.Get("Content-Type") == problemType && json.Unmarshal(body, p) == nil && p.Code != "" {
		return p
	}
	return fmt.Errorf("%s answered %s: is it a server of another version?", c.at, r.Status)
}
