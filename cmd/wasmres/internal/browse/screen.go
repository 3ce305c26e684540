package browse

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
)

const (
	wide    = 100 // columns from which list and preview stand side by side
	divider = 3   // columns between them
	frame   = 4   // lines that are neither: title, two rules, keys
)

// View implements [tea.Model].
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

// screen returns the lines of the screen, each at most as wide as it.
func (m *model) screen() []string {
	rule := strings.Repeat(m.style.Either("─", "-"), m.width)
	lines := append([]string{m.title(), rule}, m.panes()...)
	return append(lines, rule, m.foot())
}

func (m *model) isWide() bool { return m.width >= wide }

func (m *model) paneHeight() int { return max(m.height-frame, 1) }

// listHeight is how many entries fit.
func (m *model) listHeight() int { return max(m.paneHeight()-1, 1) }

func (m *model) listWidth() int {
	if m.isWide() {
		return min(m.width*2/5, 60)
	}
	return m.width
}

func (m *model) previewWidth() int {
	if m.isWide() {
		return m.width - m.listWidth() - divider
	}
	return m.width
}

func (m *model) title() string {
	text := m.name + ": "
	switch {
	case m.mode == filtering:
		text += "filter: " + printable.Line(m.filter) + "_"
	case m.uri != "":
		text += printable.Line(m.uri)
		if m.isBusy {
			text += " …"
		}
	case m.filter != "":
		text += fmt.Sprintf("%d of %d with %q", len(m.shown), len(m.entries), printable.Line(m.filter))
	default:
		text += terminal.Numbered(len(m.entries), "entry", "entries")
		if m.isCut {
			text += ", and more"
		}
	}
	return m.paint("1", m.style.Clip(text, m.width))
}

// foot has a note, or else the keys.
func (m *model) foot() string {
	if m.note != "" {
		return m.style.Clip(printable.Line(m.note), m.width)
	}
	keys := map[mode]string{
		browsing:  "enter open  / filter  up/down move  r reload  esc all  q quit",
		filtering: "type to filter  up/down move  enter keep  esc clear",
		filling:   "type a value  tab choose  enter accept  esc back",
		viewing:   "up/down scroll  space page  r reload  esc back  q quit",
	}
	text := keys[m.mode]
	if m.mode == viewing && m.picture != nil {
		text = "p picture  " + text
	}
	return m.paint("2", m.style.Clip(text, m.width))
}

// panes returns as many lines as there are between the rules.
func (m *model) panes() []string {
	right := m.preview()
	if !m.isWide() {
		if m.mode == viewing || m.mode == filling {
			return padded(right, m.paneHeight())
		}
		return padded(m.list(), m.paneHeight())
	}
	left, right := padded(m.list(), m.paneHeight()), padded(right, m.paneHeight())
	between := m.style.Either(" │ ", " | ")
	for i := range left {
		left[i] += strings.Repeat(" ", max(m.listWidth()-textwidth.Of(textwidth.WithoutStyles(left[i])), 0)) + between + right[i]
	}
	return left
}

func padded(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// list returns the entries that fit, and below them what the one under the cursor is.
func (m *model) list() (lines []string) {
	height, width := m.listHeight(), m.listWidth()
	m.top = max(min(m.top, m.cursor), m.cursor-height+1)
	for i := m.top; i < min(m.top+height, len(m.shown)); i++ {
		e := m.entries[m.shown[i]]
		mark, style := "  ", ""
		if i == m.cursor {
			mark, style = "> ", "7"
		}
		lines = append(lines, m.paint(style, m.style.Clip(mark+e.label, width)))
	}
	if len(m.entries) > 0 && len(m.shown) == 0 {
		lines = append(lines, "  nothing matches")
	}
	lines = padded(lines, height)
	return append(lines, m.paint("2", m.style.Clip("  "+m.selected().about, width)))
}

// preview returns the resource or the form on the right, or what the entry under the cursor is.
func (m *model) preview() []string {
	switch {
	case m.mode == filling:
		return m.form()
	case m.uri != "":
		return append([]string(nil), m.lines[min(m.offset, len(m.lines)):]...)
	}
	return nil
}

// form shows the variables of a template and the completions of the one that is typed.
func (m *model) form() []string {
	width := m.previewWidth()
	lines := []string{m.style.Clip(printable.Line(m.template), width), ""}
	for i, name := range m.names {
		value := ""
		switch {
		case i < len(m.values)-1:
			value = printable.Line(m.values[i])
		case i == len(m.values)-1:
			value = printable.Line(m.values[i]) + "_"
		}
		lines = append(lines, m.style.Clip(printable.Line(name)+": "+value, width))
	}
	lines = append(lines, "")
	room := max(m.paneHeight()-len(lines), 1)
	first := max(0, m.chosen-room+1)
	for i := first; i < min(first+room, len(m.offered)); i++ {
		mark, style := "  ", ""
		if i == m.chosen {
			mark, style = "> ", "7"
		}
		lines = append(lines, m.paint(style, m.style.Clip(mark+terminal.Cell(m.offered[i]), width)))
	}
	return lines
}

// paint returns a text in a style, by its number in an escape sequence.
func (m *model) paint(style, text string) string {
	if !m.style.Coloured || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
