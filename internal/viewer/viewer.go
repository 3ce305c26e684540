package viewer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/httpserve"
	"github.com/wasmres/wasmres/internal/webpage"
	"github.com/wasmres/wasmres/runtime/resource"
)

//go:embed pages/*.html
var pageFiles embed.FS

const (
	cookieName = "wasmres"
	headTime   = 5 * time.Second
	idleTime   = 2 * time.Minute
	closeTime  = 3 * time.Second
	maxHeader  = 64 << 10 // bytes: URIs are in it
	maxStreams = 16       // of events at once
	pageSize   = 50       // resources on a page
	maxReads   = 20       // of the newest that a page shows
	logName    = "run"    // under which the Book has the lines of the provider
)

// Config configures a Server. App is required, and has one provider.
type Config struct {
	App    *app.App
	Logs   *guestlog.Book // see Handler; nil shows no lines
	Logger *slog.Logger   // nil discards
}

// Handler returns a handler of log records that adds what a provider's guest logs to a Book, for a Server.
func Handler(b *guestlog.Book, next slog.Handler) slog.Handler {
	return b.Handler(next, logName, logName)
}

// A Server serves the pages. Make it with [New].
type Server struct {
	cfg     Config
	pages   *webpage.Set
	root    string // path of the site, which others cannot guess
	token   string
	streams chan struct{} // has a token for each stream of events

	mu    sync.Mutex
	reads []Read // the newest last
}

// A Read says what one read has cost.
type Read struct {
	URI   string
	Fuel  uint64
	Took  time.Duration
	Bytes int
	Error string // empty for an answer
}

// New makes a Server.
func New(cfg Config) (*Server, error) {
	if cfg.App == nil || cfg.App.Provider() == nil {
		return nil, errors.New("viewer: Config.App with one provider is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	sub, err := fs.Sub(pageFiles, "pages")
	if err != nil {
		return nil, err
	}
	pages, err := webpage.Parse(sub)
	if err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, pages: pages, root: "/" + strings.ToLower(rand.Text()), token: rand.Text(), streams: make(chan struct{}, maxStreams)}, nil
}

// URL returns the URL to open, for a listener at an address.
func (s *Server) URL(bound net.Addr) string {
	return "http://" + bound.String() + s.root + "/?token=" + s.token
}

// Serve serves the pages on l, which is one of a loopback address, until ctx ends. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("viewer: %s is no loopback address", l.Addr()), l.Close())
	}
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: s.Handler(tcp.Port), ReadHeaderTimeout: headTime, ReadTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return stopping }, ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	return httpserve.Until(ctx, server, l, closeTime)
}

// Handler returns the handler of a server at a port of a loopback address.
func (s *Server) Handler(port int) http.Handler {
	mux := http.NewServeMux()
	for name := range webpage.Assets() {
		mux.HandleFunc("GET "+s.root+"/"+name, func(w http.ResponseWriter, r *http.Request) { webpage.ServeAsset(w, r, name) })
	}
	for pattern, answer := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/{$}": s.showProvider, "/read": s.showRead, "/raw": s.raw, "/fill": s.fill, "/complete": s.complete, "/log": s.showLog, "/events": s.events,
	} {
		mux.HandleFunc("GET "+s.root+pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := answer(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	inner := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		webpage.Protect(w.Header())
		if reason := refuse(r, port); reason != "" {
			http.Error(w, reason, http.StatusForbidden)
			return
		}
		if !s.isOpen(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// refuse returns why the server refuses a request: it does not come from a page of this server or from the address line of a
// browser. Empty means that it does. A DNS name that points to this machine (DNS rebinding) shows in the header Host only.
func refuse(r *http.Request, port int) string {
	isOwn := false
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		isOwn = isOwn || strings.EqualFold(r.Host, name+":"+strconv.Itoa(port))
	}
	if !isOwn {
		return "this host name is not one of the server: open the URL that it has printed"
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], "http://"+r.Host) {
		return "the request comes from a page of another origin"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "the request comes from a page of another site"
	}
	return ""
}

// isOpen reports whether a request has the cookie. It answers others, and gives the cookie for the token.
func (s *Server) isOpen(w http.ResponseWriter, r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		if subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.token)) == 1 {
			return true
		}
	}
	given := r.URL.Query().Get("token")
	if r.URL.Path != s.root+"/" || r.Method != http.MethodGet || subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		http.Error(w, "open the URL that wasmres has printed: it has a token", http.StatusForbidden)
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.token, Path: s.root + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, s.root+"/", http.StatusSeeOther)
	return false
}

// view returns what all pages have.
func (s *Server) view(title, here string, main any) *webpage.View {
	v := &webpage.View{Title: title, Root: s.root, Home: s.root + "/", Site: s.identity().Name, Main: main, Events: s.root + "/events"}
	for _, l := range []webpage.Link{{Text: "Resources", URL: s.root + "/"}, {Text: "Log", URL: s.root + "/log"}} {
		l.IsHere = l.URL == s.root+here
		v.Links = append(v.Links, l)
	}
	return v
}

// after lets the provider clean up after a request.
func (s *Server) after() {
	if a, ok := s.cfg.App.Source().(resource.AfterResponder); ok {
		a.AfterResponse()
	}
}

func (s *Server) identity() (is resource.Identity) {
	if i, ok := s.cfg.App.Source().(resource.Identified); ok {
		is = i.Identity()
	}
	return is
}

// fail answers an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	switch abi.CodeOf(err) {
	case abi.CodeNotFound:
		status = http.StatusNotFound
	case abi.CodeInvalidParams, abi.CodeInvalidURI:
		status = http.StatusBadRequest
	}
	s.cfg.Logger.Debug("page not shown", "path", strings.TrimPrefix(r.URL.Path, s.root), "err", err)
	view := s.view("The provider has not answered", "", err.Error())
	view.Events = ""
	if err := s.pages.Write(w, status, "problem", view); err != nil {
		s.cfg.Logger.Error("page not made", "err", err)
	}
}

// link returns the URL of a page about a resource.
func (s *Server) link(page, uri string) string {
	return s.root + "/" + page + "?" + url.Values{"uri": {uri}}.Encode()
}

// A templateForm is a template with the values that a person has filled in.
type templateForm struct {
	abi.Template
	Variables []variable
	Problem   string // why it cannot be filled in
}

// A variable is one of a template.
type variable struct {
	Name, ID, Value string
	Completes       bool
	Suggested       []string
}

// providerPage is what the first page shows.
type providerPage struct {
	Identity  resource.Identity
	About     string
	Resources []item
	Next      string // URL of the next page; empty at the end
	IsFirst   bool
	Templates []templateForm
	Reads     []Read
	Problem   string // of the list
}

// An item is a resource in the list.
type item struct {
	abi.Resource
	Link string
}

func (s *Server) showProvider(w http.ResponseWriter, r *http.Request) error {
	p := providerPage{Identity: s.identity(), IsFirst: r.URL.Query().Get("after") == ""}
	if m := s.cfg.App.Provider().Manifest(); m != nil {
		p.About = m.Description
	}
	defer s.after()
	reply, err := s.cfg.App.Source().List(r.Context(), &resource.Request{Cursor: r.URL.Query().Get("after"), Limit: pageSize})
	if err != nil {
		p.Problem, reply = err.Error(), &abi.Reply{}
	}
	for _, one := range reply.Resources[:min(len(reply.Resources), 2*pageSize)] {
		p.Resources = append(p.Resources, item{one, s.link("read", one.URI)})
	}
	if reply.NextCursor != "" {
		p.Next = s.root + "/?" + url.Values{"after": {reply.NextCursor}}.Encode()
	}
	p.Templates = s.templates(r)
	s.mu.Lock()
	for i := range s.reads {
		p.Reads = append(p.Reads, s.reads[len(s.reads)-1-i])
	}
	s.mu.Unlock()
	return s.pages.Write(w, http.StatusOK, "provider", s.view("Resources", "/", p))
}

// templates returns those of the provider, with the values that a request has for one of them.
func (s *Server) templates(r *http.Request) (all []templateForm) {
	reply, err := s.cfg.App.Source().Templates(r.Context(), &resource.Request{Limit: pageSize})
	if err != nil {
		return []templateForm{{Problem: err.Error()}}
	}
	q := r.URL.Query()
	for i := range reply.Templates[:min(len(reply.Templates), pageSize)] {
		t := templateForm{Template: reply.Templates[i]}
		names, err := check.Variables(t.URITemplate)
		if err != nil {
			t.Problem = err.Error()
		}
		for n, name := range names {
			v := variable{Name: name, ID: fmt.Sprintf("t%d-%d", i, n), Completes: len(t.Completes) > 0}
			if q.Get("template") == t.URITemplate {
				v.Value = q.Get("v." + name)
				if q.Get("suggest") == name {
					v.Suggested = s.suggestions(r, t.URITemplate, name, v.Value)
				}
			}
			t.Variables = append(t.Variables, v)
		}
		all = append(all, t)
	}
	return all
}

const maxSuggested = 20

// suggestions returns what the provider completes; none for an error.
func (s *Server) suggestions(r *http.Request, of, name, typed string) []string {
	req := &resource.Request{Template: of, Arg: name, Value: typed}
	names, _ := check.Variables(of)
	for _, other := range names {
		if value := r.URL.Query().Get("v." + other); other != name && value != "" {
			req.Vars = append(req.Vars, abi.Var{Name: other, Value: value})
		}
	}
	defer s.after()
	reply, err := s.cfg.App.Source().Complete(r.Context(), req)
	if err != nil {
		return nil
	}
	return reply.Completions[:min(len(reply.Completions), maxSuggested)]
}

// complete answers suggestions to the script.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	name := strings.TrimPrefix(q.Get("argument"), "v.")
	found := s.suggestions(r, q.Get("template"), name, q.Get("v."+name))
	if found == nil {
		found = []string{}
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(found)
}

// fill leads to the resource of a template with values, or back with suggestions.
func (s *Server) fill(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Get("suggest") != "" {
		http.Redirect(w, r, s.root+"/?"+q.Encode()+"#templates", http.StatusSeeOther)
		return nil
	}
	names, err := check.Variables(q.Get("template"))
	if err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "the template is not one: %v", err)
	}
	var values []abi.Var
	for _, name := range names {
		if value := q.Get("v." + name); value != "" {
			values = append(values, abi.Var{Name: name, Value: value})
		}
	}
	uri, err := check.Expand(q.Get("template"), values)
	if err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "the template makes no URI of these values: %v", err)
	}
	http.Redirect(w, r, s.link("read", uri), http.StatusSeeOther)
	return nil
}
