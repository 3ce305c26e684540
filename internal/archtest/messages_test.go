package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTroubleshootingHasRealMessages takes the message in each heading of docs/troubleshooting.md, in which "…" stands for
// anything, and fails when no string of the program has it. A message of several strings must stand in one expression.
func TestTroubleshootingHasRealMessages(t *testing.T) {
	page := readPage(t, filepath.Join(root, "docs", "troubleshooting.md"))
	messages := messagesOf(string(page))
	if len(messages) < 50 {
		t.Fatalf("the page has %d messages", len(messages))
	}
	texts := programTexts(t)
	for _, m := range messages {
		if !anyHas(texts, m) {
			t.Errorf("docs/troubleshooting.md: no string of the program has %q", m)
		}
	}
}

// TestVariablesAreDocumented holds docs/data.md to the variables that the commands read.
func TestVariablesAreDocumented(t *testing.T) {
	page := string(readPage(t, filepath.Join(root, "docs", "data.md")))
	found := 0
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(relative(t, file), "cmd/wasmres/") {
			continue
		}
		for _, name := range variable.FindAllSubmatch(readPage(t, file), -1) {
			found++
			if !strings.Contains(page, "`"+string(name[1])+"`") {
				t.Errorf("docs/data.md does not name %s, which %s reads", name[1], relative(t, file))
			}
		}
	}
	if found < 15 {
		t.Errorf("the commands read %d variables", found)
	}
}

// variable matches a string that is the name of a variable.
var variable = regexp.MustCompile(`"(WASMRES_[A-Z_]+|NO_COLOR|ACCESSIBLE)"`)

func TestMessagesMatchInOrder(t *testing.T) {
	for _, c := range []struct {
		text, message string
		want          bool
	}{
		{"open …: it is locked", "open …: it is locked", true},
		{"open …: it is locked by another process", "it is locked", true},
		{"it is locked: open it", "open … locked", false},
		{"", "it is locked", false},
	} {
		if got := anyHas([]string{c.text}, c.message); got != c.want {
			t.Errorf("%q in %q: got %v", c.message, c.text, got)
		}
	}
}

var messageHeading = regexp.MustCompile("(?m)^### `(.+)`$")

// messagesOf returns the messages in the headings of a page.
func messagesOf(page string) (messages []string) {
	for _, m := range messageHeading.FindAllStringSubmatch(page, -1) {
		messages = append(messages, m[1])
	}
	return messages
}

// anyHas reports whether a text has the parts of a message, between its "…", in their order.
func anyHas(texts []string, message string) bool {
	parts := strings.Split(message, "…")
next:
	for _, text := range texts {
		for _, part := range parts {
			_, after, ok := strings.Cut(text, part)
			if !ok {
				continue next
			}
			text = after
		}
		return true
	}
	return false
}

// formatVerb matches what fmt replaces by a value.
var formatVerb = regexp.MustCompile(`%[-+# 0-9.\[\]]*[a-zA-Z]`)

// programTexts returns the strings of the program's code, those that are put together by + as one, with "…" for values.
func programTexts(t *testing.T) (texts []string) {
	t.Helper()
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := constantText(e)
			if ok {
				texts = append(texts, formatVerb.ReplaceAllString(text, "…"))
			}
			return !ok
		})
	}
	return texts
}

// constantText returns the string that an expression makes, with "…" for what is not constant. It reports whether there is any.
func constantText(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := constantText(e.X)
		right, isRight := constantText(e.Y)
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}
	return "…", false
}
