package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of what is read, checked before the parser sees it: its time and stack grow with them.
const (
	maxTokens   = 20_000
	maxDepth    = 32  // of brackets
	maxColumn   = 100 // in which a key or an entry of a list may stand; bounds the depth of indentation
	maxProblems = 50
)

type kind int

const (
	nothing kind = iota // null
	text
	number
	boolean
	mapping
	sequence
)

var kindNames = [...]string{"nothing", "a text", "a number", "true or false", "keys and values", "a list"}

func (k kind) String() string { return kindNames[k] }

// A node is one value of a file.
type node struct {
	kind         kind
	text         string // of a scalar, as it means: without quotes
	line, column int
	entries      []entry // of a mapping, each key once
	items        []node  // of a sequence
}

type entry struct {
	key   node // a scalar
	value node
}

// A reader reads one file and remembers what is wrong with it.
type reader struct {
	file     string
	problems Problems
}

// fail remembers what is wrong at n.
func (r *reader) fail(n node, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{r.file, n.line, n.column, fmt.Sprintf(format, args...)})
	}
}

// want reports whether n is of a kind, and remembers it when it is not.
func (r *reader) want(n node, k kind) bool {
	switch {
	case n.kind == k:
		return true
	case n.kind == nothing:
		r.fail(n, "there is nothing here: remove the key, or give it %v", k)
	case k == text && n.kind < mapping:
		r.fail(n, "this is %v, expected a text: write it in quotes", n.kind)
	default:
		r.fail(n, "this is %v, expected %v", n.kind, k)
	}
	return false
}

// tree gives the one value a YAML text is made of.
func (r *reader) tree(b []byte) (root node, ok bool) {
	switch {
	case len(b) > MaxSize:
		r.fail(node{}, "it has more than %d bytes, which no policy needs", MaxSize)
		return node{}, false
	case !utf8.Valid(b):
		r.fail(node{}, "it is not UTF-8: convert it")
		return node{}, false
	}
	docs, ok := r.parse(strings.TrimPrefix(string(b), "\ufeff"))
	if !ok {
		return node{}, false
	}
	if len(docs) == 0 || docs[0].Body == nil {
		r.fail(node{}, "there is nothing in it")
		return node{}, false
	}
	if len(docs) > 1 {
		r.fail(nodeAt(docs[1].Start), "a second document begins here: a file has one")
		return node{}, false
	}
	root = r.node(docs[0].Body)
	return root, len(r.problems) == 0
}

// parse gives the documents of a text. The parser may panic over one that is no YAML.
func (r *reader) parse(text string) (docs []*ast.DocumentNode, ok bool) {
	defer func() {
		if recover() != nil {
			r.fail(node{}, "it is no YAML")
			docs, ok = nil, false
		}
	}()
	tokens := lexer.Tokenize(text)
	if !r.bounded(tokens) {
		return nil, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.failSyntax(err)
		return nil, false
	}
	return file.Docs, true
}

// bounded refuses what would be slow to parse, or is not for reading by people.
func (r *reader) bounded(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		r.fail(node{}, "it has more than %d words and signs, which no policy needs", maxTokens)
		return false
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.fail(nodeAt(t), "anchors and aliases are not read: write out what is meant")
			return false
		case token.TagType, token.DirectiveType:
			r.fail(nodeAt(t), "tags and directives are not read: leave it out")
			return false
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Position.Column > maxColumn {
				depth = maxDepth + 1
			}
		case token.MappingValueType:
			if depth == 0 && t.Prev != nil && t.Prev.Position.Column > maxColumn {
				depth = maxDepth + 1
			}
		}
		if depth > maxDepth {
			r.fail(nodeAt(t), "it is nested too deep")
			return false
		}
	}
	return true
}

func (r *reader) failSyntax(err error) {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil {
		r.fail(node{}, "it is no YAML")
		return
	}
	r.fail(nodeAt(syntax.Token), "this is no YAML: %s", syntax.Message)
}

func nodeAt(t *token.Token) node {
	if t == nil || t.Position == nil {
		return node{}
	}
	return node{line: t.Position.Line, column: t.Position.Column}
}

// node takes over a value of the parser's.
func (r *reader) node(from ast.Node) node {
	n := nodeAt(from.GetToken())
	switch v := from.(type) {
	case *ast.NullNode:
		n.kind = nothing
	case *ast.StringNode:
		n.kind, n.text = text, v.Value
	case *ast.LiteralNode:
		n.kind, n.text = text, v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = number, from.GetToken().Value
	case *ast.BoolNode:
		n.kind, n.text = boolean, from.GetToken().Value
	case *ast.MappingValueNode:
		r.entries(&n, []*ast.MappingValueNode{v})
	case *ast.MappingNode:
		r.entries(&n, v.Values)
	case *ast.SequenceNode:
		n.kind = sequence
		for _, item := range v.Values {
			n.items = append(n.items, r.node(item))
		}
	default:
		r.fail(n, "%s is not read in policies", from.Type().YAMLName())
	}
	return n
}

// entries takes over keys and values. The place of a mapping is that of its first key.
func (r *reader) entries(n *node, values []*ast.MappingValueNode) {
	n.kind = mapping
	seen := map[string]node{}
	for i, v := range values {
		key := r.node(v.Key)
		if key.kind == mapping || key.kind == sequence {
			r.fail(key, "a key is a word")
			continue
		}
		if i == 0 && n.column != 0 {
			n.line, n.column = key.line, key.column
		}
		if first, double := seen[key.text]; double {
			r.fail(key, "the key %q is here twice: it is on line %d already", key.text, first.line)
			continue
		}
		seen[key.text] = key
		n.entries = append(n.entries, entry{key, r.node(v.Value)})
	}
}

// get gives the value of a key.
func (n node) get(name string) (node, bool) {
	for _, e := range n.entries {
		if e.key.text == name {
			return e.value, true
		}
	}
	return node{}, false
}
