package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/webpage"
)

const (
	maxLines    = 30   // of what a version asks for, on a page
	maxManifest = 6000 // characters of a manifest or a report, on a page
)

// A providerPage is what the page of a provider shows.
type providerPage struct {
	ID, Name string
	Standing admin.Standing
	Provider admin.Provider
	Versions []admin.Version // the newest first
	Route    admin.Route
	Trial    *trial // nil for none
	Once     string
}

func showProvider(v *visit) error {
	id, name := v.r.PathValue("tenant"), v.r.PathValue("provider")
	t, err := v.api.Tenant(v.r.Context(), id)
	if err != nil {
		return err
	}
	p := providerPage{ID: id, Name: name, Standing: v.standing, Once: admin.NewIdempotencyKey()}
	if i := slices.IndexFunc(t.Modules, func(one admin.Provider) bool { return one.Name == name }); i >= 0 {
		p.Provider = t.Modules[i]
	}
	found, err := v.api.Versions(v.r.Context(), id, name)
	if err != nil {
		return err
	}
	if p.Route, err = v.api.Route(v.r.Context(), id, name); err != nil {
		return err
	}
	p.Versions, p.Trial = found.Items, trialOf(&p.Route)
	view := v.tenantView(name, id, p)
	view.Refresh = refreshTime
	return v.show("provider", view)
}

// A versionPage is what the page of a version shows.
type versionPage struct {
	admin.Version
	Standing admin.Standing
	Same     []string // what it asks for, and the active version may already
	Clipped  int      // lines that are not shown
	RouteTag string   // Version.Tag is that of the version
	Once     string
	Manifest string // as far as it is shown
	Report   string
	IsCut    bool // the manifest has more
	// What the person may do now.
	MayDecide, MayPromote, MayRollBack bool
}

// number returns the number of the version that a request is about.
func (v *visit) number() (int, error) {
	n, err := strconv.Atoi(v.r.PathValue("version"))
	if err != nil || n < 1 {
		return 0, &admin.Problem{Status: http.StatusNotFound, Code: admin.CodeNoVersion, Detail: "There is no such version."}
	}
	return n, nil
}

func showVersion(v *visit) error {
	id, name := v.r.PathValue("tenant"), v.r.PathValue("provider")
	n, err := v.number()
	if err != nil {
		return err
	}
	p := versionPage{Standing: v.standing, Once: admin.NewIdempotencyKey()}
	if p.Version, err = v.api.Version(v.r.Context(), id, name, n); err != nil {
		return err
	}
	route, err := v.api.Route(v.r.Context(), id, name)
	if err != nil {
		return err
	}
	p.RouteTag = route.Tag
	p.fill()
	view := v.tenantView(name+" version "+strconv.Itoa(n), id, p)
	view.Trail = append(view.Trail, webpage.Link{Text: name, URL: urlOf("tenants", id, "providers", name)})
	view.Refresh = refreshTime
	return v.show("version", view)
}

// fill says what the page shows of a version.
func (p *versionPage) fill() {
	for _, line := range p.Asks {
		if !slices.Contains(p.More, line) {
			p.Same = append(p.Same, line)
		}
	}
	for _, lines := range []*[]string{&p.More, &p.Less, &p.Same} {
		if over := len(*lines) - maxLines; over > 0 {
			p.Clipped += over
			*lines = (*lines)[:maxLines]
		}
	}
	whole := pretty(string(p.Version.Manifest))
	p.Manifest = webpage.Short(maxManifest, whole)
	p.IsCut = p.Manifest != whole
	p.Report = webpage.Short(maxManifest/2, pretty(string(p.Version.Report)))
	p.MayDecide = p.Standing.Manages() && p.State == tenant.StateWaiting
	p.MayPromote = p.Standing.Deploys() && (p.State == tenant.StateApproved || p.State == tenant.StateFailed) && p.Route != "active"
	p.MayRollBack = p.Standing.Deploys() && (p.Route == "active" || p.Route == "canary")
}

func downloadManifest(v *visit) error {
	n, err := v.number()
	if err != nil {
		return err
	}
	found, err := v.api.Version(v.r.Context(), v.r.PathValue("tenant"), v.r.PathValue("provider"), n)
	if err != nil {
		return err
	}
	return v.download("manifest-"+strconv.Itoa(n)+".json", []byte(pretty(string(found.Manifest))))
}

// decide makes a change that a form asks for, if what it changes is as the form has shown it.
func (v *visit) decide(do func(api *admin.Client, number int, tag string) error, notice string) error {
	once, err := v.once()
	if err != nil {
		return err
	}
	number := 0
	if v.r.PathValue("version") != "" {
		if number, err = v.number(); err != nil {
			return err
		}
	}
	tag := v.r.PostForm.Get("tag")
	if tag == "" { // a form of this site has one
		return &admin.Problem{Status: http.StatusBadRequest, Code: admin.CodeInvalid, Detail: "The form does not say what it has shown: load the page again."}
	}
	err = do(v.api.Once(once), number, tag)
	var p *admin.Problem
	if errors.As(err, &p) && p.Status == http.StatusPreconditionFailed {
		return v.showChanged(number)
	}
	if err != nil {
		return err
	}
	to := []string{"tenants", v.r.PathValue("tenant"), "providers", v.r.PathValue("provider")}
	if number > 0 {
		to = append(to, "versions", strconv.Itoa(number))
	}
	return v.done(notice, urlOf(to...))
}

// showChanged shows what a form was about as it is now, of which the form has shown another state.
func (v *visit) showChanged(number int) error {
	v.alert = "This changed meanwhile, and nothing was done. Below is how it is now: look at it, and decide again."
	if number > 0 {
		return showVersion(v)
	}
	return showProvider(v)
}

func approveVersion(v *visit) error {
	return v.decide(func(api *admin.Client, number int, tag string) error {
		_, err := api.ApproveVersion(v.r.Context(), v.r.PathValue("tenant"), v.r.PathValue("provider"), number, tag)
		return err
	}, "approved")
}

func rejectVersion(v *visit) error {
	return v.decide(func(api *admin.Client, number int, tag string) error {
		_, err := api.RejectVersion(v.r.Context(), v.r.PathValue("tenant"), v.r.PathValue("provider"), number, v.r.PostForm.Get("reason"), tag)
		return err
	}, "rejected")
}

func promoteVersion(v *visit) error {
	return v.decide(func(api *admin.Client, number int, tag string) error {
		_, err := api.Promote(v.r.Context(), v.r.PathValue("tenant"), v.r.PathValue("provider"), number, tag)
		return err
	}, "promoted")
}

func rollBack(v *visit) error {
	return v.decide(func(api *admin.Client, _ int, tag string) error {
		_, err := api.Rollback(v.r.Context(), v.r.PathValue("tenant"), v.r.PathValue("provider"), tag)
		return err
	}, "rolled-back")
}
