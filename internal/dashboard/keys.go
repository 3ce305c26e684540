package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
)

// lives are for how many days a new key may be good, as the form offers them.
var lives = []string{"7", "30", "90", "365", admin.Never}

// expiryOf reads for how long a new key is good, in days.
func expiryOf(days string, now time.Time) (string, error) {
	if days == admin.Never {
		return days, nil
	}
	if !slices.Contains(lives, days) {
		return "", &admin.Problem{Status: http.StatusBadRequest, Code: admin.CodeInvalid, Detail: "Choose for how long the key is good."}
	}
	d, err := time.ParseDuration(days + "h")
	return now.Add(24 * d).UTC().Format(time.RFC3339), err
}

// A list is what a page of a list shows.
type list[T any] struct {
	Items    []T
	Tenant   string // the only one; empty for all
	ID       string // likewise, for the links to its pages
	Here     string
	Standing admin.Standing
	First    string // URL of the first page; empty there
	Next     string // URL of the next page; empty at the end
	Once     string // for the forms
	Roles    []string
	Tenants  []string
	Lives    []string
	Filter   map[string]string // what was asked for
}

// listOf returns what a page shows of a page of a list.
func listOf[T any](v *visit, here string, p admin.Page[T]) list[T] {
	id := v.r.PathValue("tenant")
	l := list[T]{Items: p.Items, Tenant: id, ID: id, Here: here, Standing: v.standing, Once: admin.NewIdempotencyKey(), Lives: lives, Filter: map[string]string{}}
	q := v.r.URL.Query()
	q.Del("done")
	if q.Get("after") != "" {
		q.Del("after")
		l.First = v.r.URL.Path + "?" + q.Encode()
	}
	if p.Next != "" {
		q.Set("after", p.Next)
		l.Next = v.r.URL.Path + "?" + q.Encode()
	}
	return l
}

// after returns the cursor of the page that is asked for.
func (v *visit) after() string { return v.r.URL.Query().Get("after") }

func showKeys(v *visit) error {
	id := v.r.PathValue("tenant")
	found, err := v.api.WithPages(pageSize).Keys(v.r.Context(), id, v.after())
	if err != nil {
		return err
	}
	l := listOf(v, "keys", found)
	if id == "" {
		return v.show("keys", v.view("Keys", l))
	}
	t, err := v.api.Tenant(v.r.Context(), id)
	if err != nil {
		return err
	}
	l.Roles = t.Roles
	return v.show("keys", v.tenantView("Keys of "+id, id, l))
}

// A madeKey is what the page of a new key shows.
type madeKey struct {
	Name, Text string
	Expires    *time.Time
	Back       string
}

func makeKey(v *visit) error {
	id := v.r.PathValue("tenant")
	once, err := v.once()
	if err != nil {
		return err
	}
	asked := admin.NewKey{Name: v.r.PostForm.Get("name"), Roles: v.r.PostForm["role"], URIs: strings.Fields(v.r.PostForm.Get("uris"))}
	if asked.Expires, err = expiryOf(v.r.PostForm.Get("life"), v.rendered()); err != nil {
		return err
	}
	made, err := v.api.Once(once).CreateKey(v.r.Context(), id, asked)
	if err != nil {
		return err
	}
	return v.show("key", v.tenantView("New key", id, madeKey{made.Name, made.Text, made.Expires, urlOf("tenants", id, "keys")}))
}

// rendered returns when the form was made, from which the end of a key is counted: a form that is sent again asks for the same.
func (v *visit) rendered() time.Time {
	at, err := time.Parse(time.RFC3339, v.r.PostForm.Get("at"))
	if now := time.Now(); err != nil || at.After(now) || now.Sub(at) > sessionTime {
		return now.Truncate(time.Second)
	}
	return at
}

// once reads a form, and returns the key by which its write is made once.
func (v *visit) once() (string, error) {
	if err := v.r.ParseForm(); err != nil {
		return "", err
	}
	return v.r.PostForm.Get("once"), nil
}

func revokeKey(v *visit) error {
	once, err := v.once()
	if err != nil {
		return err
	}
	if err := v.api.Once(once).RevokeKey(v.r.Context(), v.r.PathValue("key")); err != nil {
		return err
	}
	return v.done("key-revoked", backTo(v.r.PostForm.Get("tenant"), "keys"))
}

func rotateKey(v *visit) error {
	once, err := v.once()
	if err != nil {
		return err
	}
	made, err := v.api.Once(once).RotateKey(v.r.Context(), v.r.PathValue("key"), 24*time.Hour)
	if err != nil {
		return err
	}
	return v.show("key", v.tenantView("New key", made.Tenant, madeKey{made.Name, made.Text, made.Expires, urlOf("tenants", made.Tenant, "keys")}))
}

// backTo returns the URL of a page of a tenant, or of that of all.
func backTo(tenantID, name string) string {
	if tenantID == "" {
		return urlOf(name)
	}
	return urlOf("tenants", tenantID, name)
}

// done shows a page after a change, with a notice.
func (v *visit) done(what, to string) error {
	http.Redirect(v.w, v.r, to+"?"+url.Values{"done": {what}}.Encode(), http.StatusSeeOther)
	return nil
}

func showAdminKeys(v *visit) error {
	found, err := v.api.WithPages(pageSize).AdminKeys(v.r.Context(), v.after())
	if err != nil {
		return err
	}
	l := listOf(v, "admin-keys", found)
	for _, role := range admin.Roles {
		l.Roles = append(l.Roles, string(role))
	}
	return v.show("admin-keys", v.view("Admin keys", l))
}

func makeAdminKey(v *visit) error {
	once, err := v.once()
	if err != nil {
		return err
	}
	asked := admin.NewAdminKey{Name: v.r.PostForm.Get("name"), Role: admin.Role(v.r.PostForm.Get("role")), Tenant: v.r.PostForm.Get("tenant")}
	if asked.Expires, err = expiryOf(v.r.PostForm.Get("life"), v.rendered()); err != nil {
		return err
	}
	made, err := v.api.Once(once).CreateAdminKey(v.r.Context(), asked)
	if err != nil {
		return err
	}
	return v.show("key", v.view("New admin key", madeKey{made.Name, made.Text, made.Expires, urlOf("admin-keys")}))
}

func revokeAdminKey(v *visit) error {
	once, err := v.once()
	if err != nil {
		return err
	}
	if err := v.api.Once(once).RevokeAdminKey(v.r.Context(), v.r.PathValue("key")); err != nil {
		return err
	}
	return v.done("key-revoked", urlOf("admin-keys"))
}
