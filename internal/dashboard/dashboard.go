package dashboard

import (
	"cmp"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/webpage"
)

//go:embed pages/*.html
var pageFiles embed.FS

const (
	root        = admin.PagesPath
	maxForm     = 64 << 10 // bytes
	refreshTime = 5        // seconds
)

// Config configures a Handler. API is required.
type Config struct {
	API    *admin.Server
	Logger *slog.Logger // nil discards
}

// A Handler serves the pages, under [admin.PagesPath]. Make it with [New].
type Handler struct {
	cfg      Config
	as       func(admin.Person) *admin.Client // of cfg.API
	pages    *webpage.Set
	handler  http.Handler
	sessions sessions
}

// New makes a Handler.
func New(cfg Config) (*Handler, error) {
	if cfg.API == nil {
		return nil, errors.New("dashboard: Config.API is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	sub, err := fs.Sub(pageFiles, "pages")
	if err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, as: cfg.API.As}
	if h.pages, err = webpage.Parse(sub); err != nil {
		return nil, err
	}
	h.handler = http.NewCrossOriginProtection().Handler(h.routes())
	return h, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	webpage.Protect(w.Header())
	if r.TLS == nil { // the cookie would be sent openly
		http.Error(w, "the pages are served by TLS only", http.StatusForbidden)
		return
	}
	h.handler.ServeHTTP(w, r)
}

// A page answers a request of a person; an error becomes a page of its own.
type page func(*visit) error

func (h *Handler) routes() http.Handler {
	mux := http.NewServeMux()
	for name := range webpage.Assets() {
		mux.HandleFunc("GET "+root+"/"+name, func(w http.ResponseWriter, r *http.Request) { webpage.ServeAsset(w, r, name) })
	}
	mux.HandleFunc("GET "+root+"/sign-in", h.showSignIn)
	mux.HandleFunc("POST "+root+"/sign-in", h.signIn)
	mux.HandleFunc("POST "+root+"/sign-out", h.signOut)
	mux.HandleFunc("GET "+root, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, root+"/", http.StatusSeeOther) })
	for pattern, answer := range pages {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+root+path, func(w http.ResponseWriter, r *http.Request) { h.visit(w, r, answer) })
	}
	mux.HandleFunc(root+"/", func(w http.ResponseWriter, r *http.Request) { h.visit(w, r, notFound) })
	return mux
}

// pages are all that need a person, by pattern.
var pages = map[string]page{
	"GET /{$}":                                                      showNode,
	"GET /tenants":                                                  showTenants,
	"GET /tenants/{tenant}":                                         showTenant,
	"GET /tenants/{tenant}/keys":                                    showKeys,
	"POST /tenants/{tenant}/keys":                                   makeKey,
	"GET /tenants/{tenant}/usage":                                   showTenantUsage,
	"GET /tenants/{tenant}/crashes":                                 showCrashes,
	"GET /tenants/{tenant}/log":                                     showLog,
	"GET /tenants/{tenant}/providers/{provider}":                    showProvider,
	"POST /tenants/{tenant}/providers/{provider}/rollback":          rollBack,
	"GET /tenants/{tenant}/providers/{provider}/versions/{version}": showVersion,
	"GET /tenants/{tenant}/providers/{provider}/versions/{version}/manifest": downloadManifest,
	"POST /tenants/{tenant}/providers/{provider}/versions/{version}/approve": approveVersion,
	"POST /tenants/{tenant}/providers/{provider}/versions/{version}/reject":  rejectVersion,
	"POST /tenants/{tenant}/providers/{provider}/versions/{version}/promote": promoteVersion,
	"GET /rollouts":                 showRollouts,
	"GET /usage":                    showUsage,
	"GET /keys":                     showKeys,
	"POST /keys/{key}/revoke":       revokeKey,
	"POST /keys/{key}/rotate":       rotateKey,
	"GET /crashes":                  showCrashes,
	"GET /crashes/{crash}":          showCrash,
	"GET /crashes/{crash}/session":  crashSession,
	"GET /ledger":                   showLedger,
	"GET /ledger/{seq}":             showEntry,
	"GET /admin-keys":               showAdminKeys,
	"POST /admin-keys":              makeAdminKey,
	"POST /admin-keys/{key}/revoke": revokeAdminKey,
}

func notFound(*visit) error {
	return &admin.Problem{Status: http.StatusNotFound, Code: admin.CodeNotFound, Detail: "There is no such page."}
}

// A visit is one request of a person who has signed in.
type visit struct {
	h        *Handler
	w        http.ResponseWriter
	r        *http.Request
	api      *admin.Client
	standing admin.Standing
	alert    string // why a form has changed nothing; empty but for a page that is shown instead
}

// visit has a page answer, if a person has signed in; others are asked to.
func (h *Handler) visit(w http.ResponseWriter, r *http.Request, answer page) {
	value := cookieOf(r)
	person, known := h.sessions.find(value, time.Now())
	standing, err := h.cfg.API.Standing(person)
	if !known || err != nil || !h.cfg.API.MayUse(person, r.TLS) {
		if known && err != nil {
			h.sessions.endSession(value)
		}
		h.askToSignIn(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	v := &visit{h: h, w: w, r: r, api: h.as(person), standing: standing}
	if err := answer(v); err != nil {
		v.fail(err)
	}
}

func (h *Handler) askToSignIn(w http.ResponseWriter, r *http.Request) {
	to := root + "/sign-in"
	if r.Method == http.MethodGet && r.URL.Path != root+"/" {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// here returns the path of the request below the root.
func (v *visit) here() string { return strings.TrimPrefix(v.r.URL.Path, root) }

// view returns what all pages have.
func (v *visit) view(title string, main any) *webpage.View {
	s := v.standing
	view := &webpage.View{
		Title: title, Root: root, Home: root + "/", Site: "dashboard", Main: main, Person: cmp.Or(s.Name, s.Key), Role: string(s.Role), Notice: notices[v.r.URL.Query().Get("done")],
	}
	if s.Tenant != "" {
		view.Role += " of " + s.Tenant
	}
	for _, p := range mainPages {
		if p.sees(s) {
			isHere := v.here() == p.path || p.path != "/" && strings.HasPrefix(v.here(), p.path+"/")
			view.Links = append(view.Links, webpage.Link{Text: p.text, URL: root + p.path, IsHere: isHere})
		}
	}
	return view
}

// notices are what pages say after a change, by the parameter done.
var notices = map[string]string{
	"key-revoked": "The key is revoked: it is not good any more.",
	"approved":    "The version is approved.",
	"rejected":    "The version is rejected: it never runs.",
	"promoted":    "The version is active now.",
	"rolled-back": "The route is back to what it was before.",
}

// show answers a page.
func (v *visit) show(name string, view *webpage.View) error {
	if v.alert == "" {
		return v.h.pages.Write(v.w, http.StatusOK, name, view)
	}
	view.Alert, view.Refresh = v.alert, 0 // the URL is that of the form, which a GET does not have
	return v.h.pages.Write(v.w, http.StatusPreconditionFailed, name, view)
}

// fail answers an error.
func (v *visit) fail(err error) {
	p := &admin.Problem{Status: http.StatusInternalServerError, Detail: err.Error()}
	_ = errors.As(err, &p)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		p = &admin.Problem{Status: http.StatusRequestEntityTooLarge, Detail: "The form is too large."}
	}
	if p.Status >= http.StatusInternalServerError {
		v.h.cfg.Logger.Warn("page not shown", "path", v.r.URL.Path, "err", err)
	}
	view := v.view(http.StatusText(p.Status), p)
	if back := v.r.Referer(); back == "" && v.r.Method == http.MethodPost {
		view.Trail = nil
	}
	if err := v.h.pages.Write(v.w, p.Status, "problem", view); err != nil {
		v.h.cfg.Logger.Error("page not made", "err", err)
		http.Error(v.w, "the page could not be made", http.StatusInternalServerError)
	}
}

// signInForm is what the page for signing in shows.
type signInForm struct {
	Next, Problem string
	Certificate   string // the name of the certificate that the browser shows; empty for none
}

func (h *Handler) showSignIn(w http.ResponseWriter, r *http.Request) {
	h.writeSignIn(w, http.StatusOK, signInForm{Next: nextOf(r.URL.Query().Get("next")), Certificate: h.cfg.API.CertificateName(r.TLS)})
}

func (h *Handler) writeSignIn(w http.ResponseWriter, status int, form signInForm) {
	err := h.pages.Write(w, status, "sign-in", &webpage.View{Title: "Sign in", Root: root, Home: root + "/", Site: "dashboard", Main: form})
	if err != nil {
		h.cfg.Logger.Error("page not made", "err", err)
	}
}

// nextOf returns the page to show after signing in: one of this site.
func nextOf(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, root+"/") || strings.ContainsAny(given, "\\\r\n") {
		return root + "/"
	}
	return u.RequestURI()
}

func (h *Handler) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	next := nextOf(r.PostFormValue("next"))
	var person admin.Person
	var err error
	if r.PostFormValue("by") == "certificate" {
		person, err = h.cfg.API.SignInByCertificate(r.Context(), r.RemoteAddr, r.TLS)
	} else {
		person, err = h.cfg.API.SignIn(r.Context(), r.RemoteAddr, strings.TrimSpace(r.PostFormValue("key")))
	}
	if err != nil {
		p := &admin.Problem{Status: http.StatusInternalServerError, Detail: "the server failed"}
		_ = errors.As(err, &p)
		h.writeSignIn(w, p.Status, signInForm{next, p.Detail, h.cfg.API.CertificateName(r.TLS)})
		return
	}
	if old := cookieOf(r); old != "" {
		h.sessions.endSession(old)
	}
	setCookie(w, h.sessions.begin(person, time.Now()), int(sessionTime/time.Second))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (h *Handler) signOut(w http.ResponseWriter, r *http.Request) {
	h.sessions.endSession(cookieOf(r))
	setCookie(w, "", -1)
	w.Header().Set("Clear-Site-Data", `"cache"`)
	http.Redirect(w, r, root+"/sign-in", http.StatusSeeOther)
}
