package admin

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

func providerPath(id, provider string) string {
	return tenantPath(id) + "/providers/" + url.PathEscape(provider)
}

// PushVersion pushes a module, or names one by its reference if module is nil.
func (c *Client) PushVersion(ctx context.Context, id, provider string, n NewVersion, module io.Reader) (v Version, err error) {
	path := providerPath(id, provider) + "/versions"
	if module == nil {
		return v, c.do(ctx, http.MethodPost, path, n, &v)
	}
	q := url.Values{"next": {n.Next}, "approve": {strconv.FormatBool(n.Approve)}}
	if n.Share != 0 {
		q.Set("share", strconv.Itoa(n.Share))
	}
	if n.PromoteAfter != 0 {
		q.Set("promoteAfter", strconv.FormatInt(n.PromoteAfter, 10))
	}
	if n.Policy != "" {
		q.Set("policy", n.Policy)
	}
	return v, c.send(ctx, http.MethodPost, path+"?"+q.Encode(), http.Header{}, moduleType, module, &v)
}

// Versions returns the versions of a provider, the newest first.
func (c *Client) Versions(ctx context.Context, id, provider string) (p Page[Version], err error) {
	return p, c.do(ctx, http.MethodGet, providerPath(id, provider)+"/versions", nil, &p)
}

// Version returns a version.
func (c *Client) Version(ctx context.Context, id, provider string, number int) (v Version, err error) {
	return v, c.do(ctx, http.MethodGet, providerPath(id, provider)+"/versions/"+strconv.Itoa(number), nil, tagged{&v, &v.Tag})
}

// Route returns the route of a provider.
func (c *Client) Route(ctx context.Context, id, provider string) (r Route, err error) {
	return r, c.do(ctx, http.MethodGet, providerPath(id, provider)+"/route", nil, tagged{&r, &r.Tag})
}

// ApproveVersion approves a version that has a tag, or whatever it has become if that is empty.
func (c *Client) ApproveVersion(ctx context.Context, id, provider string, number int, tag string) (v Version, err error) {
	return v, c.doIf(ctx, http.MethodPost, providerPath(id, provider)+"/versions/"+strconv.Itoa(number)+"/approve", tag, nil, &v)
}

// RejectVersion has a version never run. tag is as for ApproveVersion.
func (c *Client) RejectVersion(ctx context.Context, id, provider string, number int, reason, tag string) (v Version, err error) {
	return v, c.doIf(ctx, http.MethodPost, providerPath(id, provider)+"/versions/"+strconv.Itoa(number)+"/reject", tag, Rejection{reason}, &v)
}

// Promote makes a version the active one, in a route that has a tag, or in any if that is empty.
func (c *Client) Promote(ctx context.Context, id, provider string, number int, tag string) (r Route, err error) {
	return r, c.doIf(ctx, http.MethodPost, providerPath(id, provider)+"/promote", tag, Promotion{number}, &r)
}

// Rollback ends the canary of a provider, or returns to the version before. tag is as for Promote.
func (c *Client) Rollback(ctx context.Context, id, provider, tag string) (r Route, err error) {
	return r, c.doIf(ctx, http.MethodPost, providerPath(id, provider)+"/rollback", tag, nil, &r)
}
