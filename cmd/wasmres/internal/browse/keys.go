package browse

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

const maxInput = 1024 // bytes that the user types

// key does what a key means in the mode.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	switch m.mode {
	case filtering:
		return m.filterKey(k)
	case filling:
		return m.fillKey(k)
	case viewing:
		return m.viewKey(k)
	}
	return m.listKey(k)
}

func (m *model) listKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "q":
		return tea.Quit
	case "esc":
		m.filter = ""
		m.match()
	case "/":
		m.mode = filtering
	case "enter", "right", "l":
		return m.open()
	case "r":
		return m.listing()
	default:
		m.cursor = moved(k.String(), m.cursor, len(m.shown), m.listHeight())
	}
	return nil
}

func (m *model) filterKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.filter, m.mode = "", browsing
		m.match()
	case "enter":
		m.mode = browsing
	case "up", "down", "pgup", "pgdown":
		m.cursor = moved(k.String(), m.cursor, len(m.shown), m.listHeight())
	case "backspace":
		m.filter = withoutLast(m.filter)
		m.match()
	default:
		return m.typed(k.Text)
	}
	return nil
}

func (m *model) fillKey(k tea.KeyPressMsg) tea.Cmd {
	at := len(m.values) - 1
	switch k.String() {
	case "esc":
		m.mode, m.offered = browsing, nil
	case "enter":
		return m.filled()
	case "down", "tab":
		m.chosen = min(m.chosen+1, len(m.offered)-1)
	case "up", "shift+tab":
		m.chosen = max(m.chosen-1, -1)
	case "backspace":
		if m.values[at] == "" && at > 0 {
			m.values, m.offered = m.values[:at], nil
			return m.completing()
		}
		m.values[at] = withoutLast(m.values[at])
		return m.completing()
	default:
		return m.typed(k.Text)
	}
	return nil
}

func (m *model) viewKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "q":
		return tea.Quit
	case "esc", "left", "h", "backspace":
		m.close()
		m.mode = browsing
	case "r":
		return m.reading(m.uri)
	case "p":
		return m.draw()
	default:
		last := len(m.lines) - m.paneHeight() + 1
		m.offset = moved(k.String(), m.offset, max(last, 1), m.paneHeight())
	}
	return nil
}

// typed adds text to what the user types.
func (m *model) typed(text string) tea.Cmd {
	switch {
	case text == "" || len(text) > maxInput:
		return nil
	case m.mode == filtering && len(m.filter) < maxInput:
		m.filter += text
		m.cursor = 0
		m.match()
	case m.mode == filling && len(m.values[len(m.values)-1]) < maxInput:
		m.values[len(m.values)-1] += text
		return m.completing()
	}
	return nil
}

// moved returns a position of count after a key that moves.
func moved(key string, at, count, page int) int {
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup", "b":
		at -= page
	case "pgdown", "space", "f":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = count - 1
	}
	return max(min(at, count-1), 0)
}

func withoutLast(s string) string {
	_, size := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-size]
}
