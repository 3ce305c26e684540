package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ptytest"
)

// zsh completes only at a terminal: the test presses the key there, and reads the screen.
func TestCompletionInZsh(t *testing.T) {
	dir, env := completionFolder(t)
	cmd := exec.CommandContext(t.Context(), guesttest.Tool(t, "zsh", "zsh"), "-f", "-i")
	cmd.Dir, cmd.Env = dir, append(env, "PS1=> ", "TERM=xterm")
	term := ptytest.Start(t, cmd, 200, 100)
	term.AwaitText(">")
	term.Type("autoload -U compinit && compinit -D -u && source <(wasmres completion zsh)\r")
	for i, c := range completionCases {
		ready := fmt.Sprint("ready", i)
		term.Type("clear && echo rea''dy" + fmt.Sprint(i) + "\r")
		term.AwaitText(ready)
		term.Type(c.line + "\t\t")
		screen := term.Await("what is offered for "+c.line, func(screen string) bool {
			for _, want := range c.offered {
				if !hasWord(screen, want, c.line) {
					return false
				}
			}
			return true
		})
		if c.not != "" && strings.Contains("\n"+screen, "\n"+c.not+" ") { // a description follows
			t.Errorf("%q: %q is offered:\n%s", c.line, c.not, screen)
		}
		term.Type(killLine)
	}
}

// killLine is the key that has a shell forget the line.
const killLine = "\x15"

// hasWord reports whether a screen has a word more often than the command line that was typed, but for its last word.
func hasWord(screen, word, line string) bool {
	typed := strings.Fields(line)
	if !strings.HasSuffix(line, " ") {
		typed = typed[:len(typed)-1]
	}
	return count(strings.Fields(screen), word) > count(typed, word)
}

func count(words []string, word string) (n int) {
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}
