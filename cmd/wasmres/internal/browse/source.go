package browse

import (
	"context"
	"iter"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

// Bounds of what is shown. A provider chooses its list, which can be endless.
const (
	maxEntries = 10_000
	maxShown   = 256 << 10 // bytes of a text
	maxParts   = 20        // contents of a resource
	maxValues  = 200       // completions
	maxLines   = 20_000    // of a preview
)

// source is what the viewer asks: a [runtime.Provider].
type source interface {
	Read(ctx context.Context, uri string) ([]runtime.Content, error)
	List(ctx context.Context) iter.Seq2[*abi.Resource, error]
	Templates(ctx context.Context) iter.Seq2[*abi.Template, error]
	Complete(ctx context.Context, template, variable, prefix string, known ...abi.Var) ([]string, error)
	Subscribe(ctx context.Context, uris ...string) iter.Seq2[runtime.Change, error]
}

// An entry is a resource or a template of the list.
type entry struct {
	uri        string // or the template, as the provider has it
	isTemplate bool
	label      string // the rest is safe to print
	about      string
}

// Messages of what the viewer has asked for, and of changes.
type (
	listed struct {
		entries []entry
		isCut   bool
		err     error
	}
	read struct {
		uri   string
		width int // for which text was laid out
		text  string
		// picture is the first of the resource; nil if it has none.
		picture *runtime.Content
		err     error
	}
	completed struct {
		number int // of the question
		values []string
	}
	listChanged     struct{}
	resourceChanged string
)

func list(ctx context.Context, s source) tea.Msg {
	var all listed
	for t, err := range s.Templates(ctx) {
		if err != nil {
			return listed{err: err}
		}
		if len(all.entries) == maxEntries {
			all.isCut = true
			return all
		}
		all.entries = append(all.entries, entry{t.URITemplate, true, terminal.Cell(t.URITemplate), about(t.Title, t.Name, t.MIMEType, t.Description)})
	}
	for r, err := range s.List(ctx) {
		if err != nil {
			return listed{err: err}
		}
		if len(all.entries) == maxEntries {
			all.isCut = true
			return all
		}
		all.entries = append(all.entries, entry{r.URI, false, terminal.Cell(r.URI), about(r.Title, r.Name, r.MIMEType, r.Description)})
	}
	return all
}

// about returns the texts of an entry on one line.
func about(title, name, mimeType, description string) string {
	if title == "" {
		title = name
	}
	var parts []string
	for _, part := range []string{title, mimeType, description} {
		if part = terminal.Cell(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// readText reads a resource and lays it out.
func readText(ctx context.Context, s source, uri string, style contents.Style) tea.Msg {
	all, err := s.Read(ctx, uri)
	if err != nil {
		return read{uri: uri, width: style.Width, err: err}
	}
	var b strings.Builder
	var picture *runtime.Content
	for i := range all[:min(len(all), maxParts)] {
		c := &all[i]
		if len(all) > 1 {
			b.WriteString(style.Either("── ", "-- ") + printable.Line(c.URI) + "  " + contents.TypeOf(c) + "\n")
		}
		if picture == nil && contents.IsPicture(c) {
			picture = c
		}
		isCut := c.Kind == abi.KindText && len(c.Data) > maxShown
		if isCut {
			c.Data = []byte(strings.ToValidUTF8(string(c.Data[:maxShown]), ""))
		}
		b.WriteString(style.Text(c))
		if isCut {
			b.WriteString("… 'wasmres read' prints all of it\n")
		}
	}
	if more := len(all) - maxParts; more > 0 {
		b.WriteString(terminal.Numbered(more, "more content", "more contents") + "\n")
	}
	return read{uri: uri, width: style.Width, text: b.String(), picture: picture}
}

// problem returns the text of an error for a person.
func problem(err error) string { return cli.ProblemOf(cli.WithMessage(err)) }

// follow calls changed after each change of a resource, or without one of the list, until ctx ends; the channel is then
// closed. A provider without subscriptions is not followed.
func follow(ctx context.Context, s source, uris []string, changed func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range s.Subscribe(ctx, uris...) {
			if err != nil {
				return
			}
			changed()
		}
	}()
	return done
}
