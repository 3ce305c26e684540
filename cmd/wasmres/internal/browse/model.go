package browse

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
	"github.com/wasmres/wasmres/runtime"
)

// A mode is what the keys of the user do.
type mode int

const (
	browsing  mode = iota // move through the list
	filtering             // type what entries contain
	filling               // type the values of a template
	viewing               // scroll through a resource
)

// settle is how long changes are collected before a resource is read again.
const settle = 200 * time.Millisecond

// A model is the state of the viewer. Update and View are called by one goroutine.
type model struct {
	// fixed at creation
	ctx   context.Context
	from  source
	name  string
	style contents.Style
	send  func(tea.Msg)
	work  sync.WaitGroup // subscriptions of resources

	width, height int
	mode          mode
	note          string

	entries []entry
	isCut   bool
	shown   []int // of entries, that match filter
	filter  string
	cursor  int // of shown
	top     int // first line of the list that is on the screen

	template string // that is being filled
	names    []string
	values   []string // as many as names, or one more that is typed
	offered  []string // completions
	chosen   int      // of offered; -1 for none
	asked    int      // number of the newest question

	uri     string // that is shown; empty for none
	cancel  context.CancelFunc
	lines   []string
	offset  int              // of lines
	picture *runtime.Content // nil if the resource has none
	isBusy  bool
	again   bool // the resource changed while it was read
}

func newModel(ctx context.Context, from source, name string, style contents.Style) *model {
	return &model{ctx: ctx, from: from, name: printable.Line(name), style: style, width: style.Width, height: 24, note: "Loading the list …", chosen: -1}
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd { return m.listing() }

func (m *model) listing() tea.Cmd {
	return func() tea.Msg { return list(m.ctx, m.from) }
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, m.reading(m.uri)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.typed(strings.Join(strings.Fields(msg.Content), " "))
	case noted:
		m.note = string(msg)
	case listed:
		m.setList(msg)
	case listChanged:
		return m, m.listing()
	case resourceChanged:
		if string(msg) == m.uri {
			return m, m.reading(m.uri)
		}
	case read:
		return m, m.setText(msg)
	case completed:
		if msg.number == m.asked {
			m.offer(msg.values)
		}
	}
	return m, nil
}

func (m *model) setList(l listed) {
	if l.err != nil {
		m.note = problem(l.err)
		return
	}
	selected := m.selected()
	m.entries, m.isCut, m.note = l.entries, l.isCut, ""
	m.match()
	for i, at := range m.shown {
		if m.entries[at].uri == selected.uri {
			m.cursor = i
		}
	}
}

// match chooses the entries that contain the words of the filter.
func (m *model) match() {
	words := strings.Fields(strings.ToLower(m.filter))
	m.shown = m.shown[:0]
entries:
	for i, e := range m.entries {
		text := strings.ToLower(e.label + " " + e.about)
		for _, word := range words {
			if !strings.Contains(text, word) {
				continue entries
			}
		}
		m.shown = append(m.shown, i)
	}
	m.cursor = max(min(m.cursor, len(m.shown)-1), 0)
}

// selected returns the entry under the cursor; the zero entry if there is none.
func (m *model) selected() entry {
	if m.cursor >= len(m.shown) {
		return entry{}
	}
	return m.entries[m.shown[m.cursor]]
}

// open shows the entry under the cursor.
func (m *model) open() tea.Cmd {
	e := m.selected()
	switch {
	case e.uri == "":
		return nil
	case !e.isTemplate:
		return m.view(e.uri)
	}
	names, err := check.Variables(e.uri)
	if err != nil {
		m.note = printable.Line(err.Error())
		return nil
	}
	if len(names) == 0 {
		return m.view(e.uri)
	}
	m.mode, m.template, m.names, m.values = filling, e.uri, names, []string{""}
	return m.completing()
}

// view shows a resource, and follows its changes.
func (m *model) view(uri string) tea.Cmd {
	m.close()
	m.mode, m.uri, m.offset, m.note = viewing, uri, 0, ""
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel = cancel
	if m.send != nil {
		ended := follow(ctx, m.from, []string{uri}, func() {
			select {
			case <-ctx.Done():
			case <-time.After(settle):
				m.send(resourceChanged(uri))
			}
		})
		m.work.Go(func() { <-ended })
	}
	return m.reading(uri)
}

func (m *model) close() {
	if m.cancel != nil {
		m.cancel()
	}
	m.cancel, m.uri, m.lines, m.picture, m.isBusy, m.again = nil, "", nil, nil, false, false
}

// reading reads a resource, for the width there is. One read runs at a time.
func (m *model) reading(uri string) tea.Cmd {
	if uri == "" {
		return nil
	}
	if m.isBusy {
		m.again = true
		return nil
	}
	m.isBusy = true
	style := m.style
	style.Width = m.previewWidth()
	return func() tea.Msg { return readText(m.ctx, m.from, uri, style) }
}

func (m *model) setText(r read) tea.Cmd {
	if r.uri != m.uri {
		return nil
	}
	m.isBusy = false
	text := r.text
	if r.err != nil {
		text = problem(r.err)
	}
	m.lines, m.picture = laidOut(text, r.width), r.picture
	m.offset = max(min(m.offset, len(m.lines)-1), 0)
	if m.again {
		m.again = false
		return m.reading(m.uri)
	}
	return nil
}

// laidOut divides a text into lines of at most width columns. Lines with styles fit already.
func laidOut(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		for !strings.Contains(line, "\x1b") && textwidth.Of(line) > width {
			var head string
			head, line = textwidth.Cut(line, width)
			lines = append(lines, head)
		}
		if lines = append(lines, line); len(lines) >= maxLines {
			return append(lines[:maxLines], "…")
		}
	}
	return lines
}

// completing asks for values of the variable that is typed. The user has chosen none yet.
func (m *model) completing() tea.Cmd {
	m.asked++
	m.chosen = -1
	number, at := m.asked, len(m.values)-1
	template, name, prefix := m.template, m.names[at], m.values[at]
	known := m.known(at)
	return func() tea.Msg {
		values, err := m.from.Complete(m.ctx, template, name, prefix, known...)
		if err != nil {
			values = nil // the user types the value
		}
		return completed{number, values[:min(len(values), maxValues)]}
	}
}

// offer shows completions. A value that the user has chosen among the ones before stays chosen.
func (m *model) offer(values []string) {
	chosen := -1
	if m.chosen >= 0 && m.chosen < len(m.offered) {
		chosen = slices.Index(values, m.offered[m.chosen])
	}
	m.offered, m.chosen = values, chosen
}

// known returns the values of the first variables.
func (m *model) known(n int) (known []abi.Var) {
	for i := range n {
		if m.values[i] != "" {
			known = append(known, abi.Var{Name: m.names[i], Value: m.values[i]})
		}
	}
	return known
}

// filled takes the value of a variable: the next one follows, or the resource is shown.
func (m *model) filled() tea.Cmd {
	at := len(m.values) - 1
	if m.chosen >= 0 && m.chosen < len(m.offered) {
		m.values[at] = m.offered[m.chosen]
	}
	m.offered, m.chosen = nil, -1
	if len(m.values) < len(m.names) {
		m.values = append(m.values, "")
		return m.completing()
	}
	uri, err := check.Expand(m.template, m.known(len(m.values)))
	if err != nil {
		m.note = printable.Line(err.Error())
		return nil
	}
	return m.view(uri)
}
