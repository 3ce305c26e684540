package dashboard

import (
	"cmp"
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/crashes"
	"github.com/wasmres/wasmres/internal/webpage"
)

const (
	maxStack = 8 << 10 // bytes, in a page
	maxLast  = 8 << 10 // of what was logged before a crash
)

func showCrashes(v *visit) error {
	id := v.r.PathValue("tenant")
	found, err := v.api.WithPages(pageSize).Crashes(v.r.Context(), id, v.after())
	if err != nil {
		return err
	}
	for i := range found.Items {
		found.Items[i].Stack = found.Items[i].Stack[:min(len(found.Items[i].Stack), 1)]
	}
	l := listOf(v, "crashes", found)
	if id == "" {
		return v.show("crashes", v.view("Crashes", l))
	}
	return v.show("crashes", v.tenantView("Crashes of "+id, id, l))
}

// A crashPage is what the page of a crash shows.
type crashPage struct {
	crashes.Report
	Standing      admin.Standing
	Frames, Lines string
	IsCut         bool // there are more frames
}

func showCrash(v *visit) error {
	c, err := v.api.Crash(v.r.Context(), v.r.PathValue("crash"))
	if err != nil {
		return err
	}
	p := crashPage{Report: c, Standing: v.standing}
	frames := make([]string, 0, len(c.Stack))
	for _, f := range c.Stack {
		frames = append(frames, cmp.Or(webpage.Short(200, f.Name), "function "+strconv.FormatUint(uint64(f.Function), 10))+"\n")
	}
	p.Frames, p.IsCut = firstLines(frames, maxStack)
	lines := make([]string, 0, len(c.Lines))
	for _, line := range c.Lines {
		lines = append(lines, webpage.Short(300, line))
	}
	p.Lines, _ = lastLines(strings.Join(lines, "\n")+"\n", maxLast)
	view := v.tenantView("Crash of "+c.Provider, c.Tenant, p)
	view.Trail = append(view.Trail, webpage.Link{Text: "Crashes", URL: urlOf("tenants", c.Tenant, "crashes")})
	return v.show("crash", view)
}

// firstLines joins the first lines that take at most so many bytes in a page.
func firstLines(lines []string, most int) (first string, isCut bool) {
	size := 0
	for i, line := range lines {
		if size += len(html.EscapeString(line)); size > most {
			return strings.Join(lines[:i], ""), true
		}
	}
	return strings.Join(lines, ""), false
}

func crashSession(v *visit) error {
	id := v.r.PathValue("crash")
	text, err := v.api.CrashSession(v.r.Context(), id)
	if err != nil {
		return err
	}
	return v.download("crash-"+id+".txtar", text)
}

// download has the browser save a file. Its name has letters, digits, dashes and dots only.
func (v *visit) download(name string, text []byte) error {
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(text) // the browser may be gone
	return nil
}
