// Web serves the pages of one web site: web://docs/intro is the page /docs/intro of the origin that is configured.
package main

import (
	"net/url"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// watchEvery is how often a page that somebody follows is looked at.
const watchEvery = time.Minute

func init() {
	wasmres.Provider("web", "1.0.0").
		Title("Web pages").
		Describe("The pages of one web site, as their server sends them.").
		Prefixes("web://")
	wasmres.Ask("http", "fetches pages of the site that is configured as origin, and of no other")

	wasmres.Template("web://{+path}", read).
		Name("page").Title("Page").Describe("A page by its path, as in web://docs/intro.").
		Watch(watchEvery, version)
}

// read answers with a page, while it arrives.
func read(r *wasmres.Request) (wasmres.Content, error) {
	resp, err := ask(r, "GET")
	if err != nil {
		return wasmres.Content{}, err
	}
	mime, text := typeOf(resp.Header.Get("Content-Type"))
	c := wasmres.Stream(resp.Body, -1).MIME(mime).ETag(etag(resp))
	if text {
		c = c.AsText()
	}
	return c, nil
}

// version names the version of a page, without its text.
func version(r *wasmres.Request) (string, error) {
	resp, err := ask(r, "HEAD")
	if err != nil {
		return "", err
	}
	return etag(resp), nil
}

// ask sends a request for the page and gives the answer if it is one.
func ask(r *wasmres.Request, method string) (*wasmres.HTTPResponse, error) {
	page, err := address(r)
	if err != nil {
		return nil, err
	}
	request := wasmres.HTTPRequest{Method: method, URL: page}
	if authorization, ok := r.Config("authorization"); ok {
		request.Header = wasmres.HTTPHeader{{Name: "Authorization", Value: authorization}}
	}
	resp, err := wasmres.HTTP(request)
	if err != nil {
		return nil, explain(err)
	}
	return resp, resp.Err()
}

// address is where the page is.
func address(r *wasmres.Request) (string, error) {
	configured, _ := r.Config("origin")
	origin, err := url.Parse(configured)
	if err != nil || origin.Scheme != "https" || origin.Host == "" {
		return "", wasmres.Unavailable("configure the site, as with --config origin=https://docs.example.org", 0)
	}
	site := origin.JoinPath("/")
	page := site.JoinPath((&url.URL{Path: r.Var("path")}).EscapedPath())
	if !strings.HasPrefix(page.Path, site.Path) {
		return "", wasmres.Invalid("not a page of the site")
	}
	return page.String(), nil
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

// typeOf gives the MIME type of a page, and whether it is text in UTF-8.
func typeOf(contentType string) (mime string, text bool) {
	mime, parameters, _ := strings.Cut(strings.ToLower(contentType), ";")
	if mime = strings.TrimSpace(mime); mime == "" {
		return "application/octet-stream", false
	}
	if _, charset, ok := strings.Cut(parameters, "charset="); ok {
		return mime, strings.Trim(charset, `" `) == "utf-8"
	}
	return mime, mime == "application/json" || strings.HasSuffix(mime, "+json")
}

func main() {}
