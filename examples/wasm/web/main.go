// Web serves the pages of web sites: web://docs/intro is the page /docs/intro of the origin that is configured, and
// https://docs.example.org/intro is that page, if the operator grants its site.
package main

import (
	"bytes"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// watchEvery is how often a page that a client follows is looked at.
const watchEvery = time.Minute

func init() {
	wasmres.Provider("web", "1.0.0").
		Title("Web pages").
		Describe("The pages of web sites, as their servers send them.").
		Prefixes("web://", "https://")
	wasmres.Ask("http", "fetches pages of the sites that are granted, and of no other")

	wasmres.Template("web://{+path}", read(address)).
		Name("page").Title("Page").Describe("A page by its path, as in web://docs/intro.").
		Watch(watchEvery, version(address))
	wasmres.Template("https://{+address}", read(ownAddress)).
		Name("url").Title("Page by URL").Describe("A page or a picture of a site that is granted, by its own URL.").
		Watch(watchEvery, version(ownAddress))
	wasmres.List(list)
}

// list lists the pages that are configured, under their own URLs.
func list(r *wasmres.Request, page *wasmres.Page) error {
	configured, _ := r.Config("pages")
	pages := strings.Fields(configured)
	return page.Each(len(pages), func(i int) wasmres.Entry {
		_, name, _ := strings.Cut(pages[i], "://")
		return wasmres.Entry{URI: pages[i], Name: name}
	})
}

// read returns the handler that answers with a page, while it arrives, from where a request leads to.
func read(where func(*wasmres.Request) (string, error)) func(*wasmres.Request) (wasmres.Content, error) {
	return func(r *wasmres.Request) (wasmres.Content, error) {
		resp, err := ask(r, "GET", where)
		if err != nil {
			return wasmres.Content{}, err
		}
		return content(resp)
	}
}

// content is a page as its server sends it.
func content(resp *wasmres.HTTPResponse) (wasmres.Content, error) {
	mime, form := typeOf(resp.Header.Get("Content-Type"))
	var c wasmres.Content
	switch form {
	case isText:
		c = wasmres.Stream(resp.Body, -1).AsText()
	case mayBeText:
		head, err := io.ReadAll(io.LimitReader(resp.Body, textMax+1))
		if err != nil {
			return c, err
		}
		if c = wasmres.Stream(io.MultiReader(bytes.NewReader(head), resp.Body), -1); len(head) <= textMax {
			c = wasmres.Bytes(head)
			if utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 {
				c = c.AsText()
			}
		}
	default:
		c = wasmres.Stream(resp.Body, -1)
	}
	return c.MIME(mime).ETag(etag(resp)), nil
}

// version returns the handler that names the version of a page, without its text.
func version(where func(*wasmres.Request) (string, error)) func(*wasmres.Request) (string, error) {
	return func(r *wasmres.Request) (string, error) {
		resp, err := ask(r, "HEAD", where)
		if err != nil {
			return "", err
		}
		return etag(resp), nil
	}
}

// ask sends a request for the page and returns the answer if it is one. The sole site to get what is configured as
// authorization is the origin.
func ask(r *wasmres.Request, method string, where func(*wasmres.Request) (string, error)) (*wasmres.HTTPResponse, error) {
	page, err := where(r)
	if err != nil {
		return nil, err
	}
	request := wasmres.HTTPRequest{Method: method, URL: page}
	if authorization, ok := r.Config("authorization"); ok && isOfOrigin(r, page) {
		request.Header = wasmres.HTTPHeader{{Name: "Authorization", Value: authorization}}
	}
	resp, err := wasmres.HTTP(request)
	if err != nil {
		return nil, explain(err)
	}
	return resp, resp.Err()
}

// ownAddress is the URL that a client asks for.
func ownAddress(r *wasmres.Request) (string, error) { return r.URI, nil }

// address is where the page of a web: URI is.
func address(r *wasmres.Request) (string, error) {
	site, ok := origin(r)
	if !ok {
		return "", wasmres.Unavailable("configure the site, as with --config origin=https://docs.example.org", 0)
	}
	page := site.JoinPath((&url.URL{Path: r.Var("path")}).EscapedPath())
	if !strings.HasPrefix(page.Path, site.Path) {
		return "", wasmres.Invalid("not a page of the site")
	}
	return page.String(), nil
}

// origin returns the site that is configured, with a slash at its end.
func origin(r *wasmres.Request) (site *url.URL, ok bool) {
	configured, _ := r.Config("origin")
	at, err := url.Parse(configured)
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return nil, false
	}
	return at.JoinPath("/"), true
}

// isOfOrigin reports whether a page is one of the site that is configured.
func isOfOrigin(r *wasmres.Request, page string) bool {
	site, ok := origin(r)
	return ok && strings.HasPrefix(page, site.String())
}

// explain words for the client why there is no answer.
func explain(err error) error {
	if e, ok := err.(*wasmres.Error); ok && e.Code == wasmres.ErrDenied.Code {
		return wasmres.Denied("the page may not be fetched: has its site been granted?").Because(err)
	}
	return err
}

// etag names the version of a page, if its server does.
func etag(resp *wasmres.HTTPResponse) string {
	if tag := resp.Header.Get("ETag"); tag != "" {
		return tag
	}
	return resp.Header.Get("Last-Modified")
}

// A form is what the type of a page says of its bytes.
type form int

const (
	isBytes   form = iota
	isText         // in UTF-8
	mayBeText      // in an encoding that the type does not say: text if the bytes are UTF-8
)

// textMax is how many bytes of a page are looked at for whether they are text. A larger page is bytes.
const textMax = 4 << 20

// typeOf returns the MIME type of a page, and what it says of the bytes.
func typeOf(contentType string) (mime string, of form) {
	mime, parameters, _ := strings.Cut(strings.ToLower(contentType), ";")
	mime = strings.TrimSpace(mime)
	if _, charset, ok := strings.Cut(parameters, "charset="); ok {
		charset, _, _ = strings.Cut(charset, ";")
		switch strings.Trim(charset, "\" '") {
		case "utf-8", "utf8", "us-ascii":
			return mime, isText
		}
		return mime, isBytes
	}
	switch {
	case mime == "":
		return "application/octet-stream", isBytes
	case mime == "application/json", strings.HasSuffix(mime, "+json"):
		return mime, isText
	case strings.HasPrefix(mime, "text/"), strings.HasSuffix(mime, "+xml"), mime == "application/xml",
		mime == "application/javascript", mime == "application/yaml", mime == "application/toml":
		return mime, mayBeText
	}
	return mime, isBytes
}

func main() {}
