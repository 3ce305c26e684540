package browse

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/contents"
)

// A user chooses faster than a provider completes.
func TestChoiceStaysWhenCompletionsArriveLate(t *testing.T) {
	for name, tt := range map[string]struct {
		late []string
		want string
	}{
		"has the choice": {[]string{"other.md", "evil.md"}, "evil.md"},
		"lacks it":       {[]string{"other.md"}, "ev"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t.Context(), nil, "test", contents.Style{})
			m.mode, m.template, m.names, m.values = filling, "file:///{name}/{part}", []string{"name", "part"}, []string{""}
			m.completing()
			m.Update(completed{m.asked, []string{"evil.md", "plan.md"}})
			m.Update(tea.KeyPressMsg{Code: 'e', Text: "e"})
			m.Update(tea.KeyPressMsg{Code: 'v', Text: "v"})
			m.Update(tea.KeyPressMsg{Code: tea.KeyTab})
			m.Update(completed{m.asked - 1, []string{"old.md"}}) // for "e"
			m.Update(completed{m.asked, tt.late})
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			if m.values[0] != tt.want {
				t.Errorf("got %q, want %q", m.values[0], tt.want)
			}
		})
	}
}

func TestTypingTakesTheChoiceBack(t *testing.T) {
	m := newModel(t.Context(), nil, "test", contents.Style{})
	m.mode, m.template, m.names, m.values = filling, "file:///{name}/{part}", []string{"name", "part"}, []string{""}
	m.completing()
	m.Update(completed{m.asked, []string{"evil.md"}})
	m.Update(tea.KeyPressMsg{Code: tea.KeyTab})
	m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	m.Update(completed{m.asked, []string{"evil.md"}})
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if m.values[0] != "x" {
		t.Errorf("got %q, want x", m.values[0])
	}
}
