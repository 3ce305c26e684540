package dashboard

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/webpage"
)

const (
	entriesPage = 40
	maxFilter   = 256      // bytes
	maxLog      = 18 << 10 // bytes
	logTime     = 2        // seconds
)

// showLedger shows entries, the newest first.
func showLedger(v *visit) error {
	given := v.r.URL.Query()
	filter := map[string]string{}
	for _, name := range []string{"tenant", "actor", "action"} {
		filter[name] = strings.TrimSpace(webpage.Short(maxFilter, given.Get(name)))
	}
	q := ledger.Query{Tenant: filter["tenant"], Actor: filter["actor"], Action: filter["action"], Newest: true, Limit: entriesPage}
	found, err := v.api.Audit(v.r.Context(), q, v.after())
	if err != nil {
		return err
	}
	l := listOf(v, "ledger", found)
	l.Filter = filter
	view := v.view("Ledger", l)
	view.Refresh = refreshTime
	return v.show("ledger", view)
}

// An entryPage is what the page of one entry shows.
type entryPage struct {
	admin.AuditEntry
	Was, Is string // Before and After for a person
}

func showEntry(v *visit) error {
	none := &admin.Problem{Status: http.StatusNotFound, Code: admin.CodeNotFound, Detail: "There is no such entry."}
	seq, err := strconv.ParseUint(v.r.PathValue("seq"), 10, 63)
	if err != nil || seq == 0 {
		return none
	}
	cursor := ""
	if seq > 1 {
		cursor = strconv.FormatUint(seq-1, 10)
	}
	found, err := v.api.Audit(v.r.Context(), ledger.Query{Limit: 1}, cursor)
	if err != nil {
		return err
	}
	if len(found.Items) != 1 || found.Items[0].Seq != seq {
		return none
	}
	e := found.Items[0]
	view := v.view("Entry "+strconv.FormatUint(seq, 10), entryPage{e, pretty(e.Before), pretty(e.After)})
	view.Trail = []webpage.Link{{Text: "Ledger", URL: urlOf("ledger")}}
	return v.show("entry", view)
}

// pretty indents JSON; another text stays as it is.
func pretty(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// A logPage is what the page of a tenant's log shows.
type logPage struct {
	ID, Here  string
	Standing  admin.Standing
	Provider  string // the only one; empty for all
	Providers []string
	Lines     string
	IsCut     bool // there are older lines
}

func showLog(v *visit) error {
	id := v.r.PathValue("tenant")
	t, err := v.api.Tenant(v.r.Context(), id)
	if err != nil {
		return err
	}
	p := logPage{ID: id, Here: "log", Standing: v.standing, Provider: v.r.URL.Query().Get("provider")}
	for _, one := range t.Modules {
		p.Providers = append(p.Providers, one.Name)
	}
	p.Providers = p.Providers[:min(len(p.Providers), 100)]
	var text bytes.Buffer
	if err := v.api.Logs(v.r.Context(), id, p.Provider, false, &text); err != nil {
		return err
	}
	p.Lines, p.IsCut = lastLines(text.String(), maxLog)
	view := v.tenantView("Log of "+id, id, p)
	view.Refresh = logTime
	return v.show("log", view)
}

// lastLines returns the last whole lines of a text that take at most so many bytes in a page.
func lastLines(text string, most int) (last string, isCut bool) {
	from, size := len(text), 0
	for from > 0 {
		begin := strings.LastIndexByte(text[:from-1], '\n') + 1
		if size += len(html.EscapeString(text[begin:from])); size > most {
			return text[from:], true
		}
		from = begin
	}
	return text, false
}
