package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 1 << 20

// Bounds of a text, checked before the parser sees it, whose time and stack grow with them.
const (
	maxTokens = 20_000
	maxDepth  = 32  // of brackets
	maxColumn = 100 // of a key or a list entry; bounds the depth of indentation
)

// A Kind is the kind of a value in a file.
type Kind int

// The kinds of values.
const (
	Null Kind = iota
	Text
	Number
	Boolean
	Mapping
	Sequence
)

var kindNames = [...]string{"nothing", "a text", "a number", "true or false", "keys and values", "a list"}

func (k Kind) String() string { return kindNames[k] }

// scalar reports whether a value of kind k is written as one word.
func (k Kind) scalar() bool { return k < Mapping }

// A Node is one value of a file.
type Node struct {
	Kind         Kind
	Text         string // of a scalar, without quotes
	Line, Column int    // from 1
	Entries      []Entry
	Items        []Node
}

// An Entry is a key of a mapping, which has each key once, and its value.
type Entry struct{ Key, Value Node }

// Get returns the value of a key. It reports false when there is none, or n is not a mapping.
func (n Node) Get(key string) (Node, bool) {
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value, true
		}
	}
	return Node{}, false
}

// At returns the value at the end of a path of keys, and of indices into lists, or the one at which the path ends early.
func (n Node) At(path ...string) Node {
	for _, step := range path {
		next, ok := n.Get(step)
		if i, err := strconv.Atoi(step); n.Kind == Sequence && err == nil && 0 <= i && i < len(n.Items) {
			next, ok = n.Items[i], true
		}
		if !ok {
			break
		}
		n = next
	}
	return n
}

// ReadFile reads a regular file of at most [MaxSize] bytes.
func ReadFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, _, err := ReadOpen(f)
	return text, err
}

// ReadOpen reads an open regular file of at most [MaxSize] bytes, and says what it was before it was read.
func ReadOpen(f *os.File) ([]byte, fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, fmt.Errorf("%s is not a file", f.Name())
	}
	size := min(max(info.Size(), 0), MaxSize) // some file systems say 0
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, MaxSize+1)); err != nil {
		return nil, info, err
	}
	if text.Len() > MaxSize {
		return nil, info, fmt.Errorf("%s: the file has more than %d bytes", f.Name(), MaxSize)
	}
	return text.Bytes(), info, nil
}

// Parse returns the value that text is made of, within the bounds of this package, for a file of another program, which
// no struct describes. name stands for the file in the error, which is [Problems].
func Parse(name string, text []byte) (Node, error) {
	r := &reader{file: name}
	root, _ := r.tree(text)
	return root, r.err()
}

// tree returns the one value of a YAML text, or reports false and adds problems.
func (r *reader) tree(b []byte) (root Node, ok bool) {
	switch {
	case len(b) > MaxSize:
		r.fail(Node{}, "the file has more than %d bytes", MaxSize)
		return Node{}, false
	case !utf8.Valid(b):
		r.fail(Node{}, "the file is not UTF-8: convert it")
		return Node{}, false
	}
	docs, ok := r.parse(strings.TrimPrefix(string(b), "\ufeff"))
	if !ok {
		return Node{}, false
	}
	if len(docs) == 0 || docs[0].Body == nil {
		r.fail(Node{}, "the file is empty")
		return Node{}, false
	}
	if len(docs) > 1 {
		r.fail(nodeAt(docs[1].Start), "a second document begins here: a file has one")
		return Node{}, false
	}
	root = r.node(docs[0].Body)
	return root, len(r.problems) == 0
}

// parse returns the documents of a text. The parser may panic over one that is not YAML.
func (r *reader) parse(text string) (docs []*ast.DocumentNode, ok bool) {
	defer func() {
		if recover() != nil {
			r.fail(Node{}, "the file is not YAML")
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

// bounded refuses a text that takes the parser long, or has what this package does not allow.
func (r *reader) bounded(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		r.fail(Node{}, "the file has more than %d tokens", maxTokens)
		return false
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.fail(nodeAt(t), "anchors and aliases are not allowed: write the value out")
			return false
		case token.TagType, token.DirectiveType:
			r.fail(nodeAt(t), "tags and directives are not allowed: remove it")
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
			r.fail(nodeAt(t), "this is nested too deep")
			return false
		}
	}
	return true
}

func (r *reader) failSyntax(err error) {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil {
		r.fail(Node{}, "the file is not YAML")
		return
	}
	r.fail(nodeAt(syntax.Token), "this is not YAML: %s", syntax.Message)
}

func nodeAt(t *token.Token) Node {
	if t == nil || t.Position == nil {
		return Node{}
	}
	return Node{Line: t.Position.Line, Column: t.Position.Column}
}

// node converts a value of the parser's.
func (r *reader) node(from ast.Node) Node {
	n := nodeAt(from.GetToken())
	switch v := from.(type) {
	case *ast.NullNode:
		n.Kind = Null
	case *ast.StringNode:
		n.Kind, n.Text = Text, v.Value
	case *ast.LiteralNode:
		n.Kind, n.Text = Text, v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.Kind, n.Text = Number, from.GetToken().Value
	case *ast.BoolNode:
		n.Kind, n.Text = Boolean, from.GetToken().Value
	case *ast.MappingValueNode:
		r.entries(&n, []*ast.MappingValueNode{v})
	case *ast.MappingNode:
		r.entries(&n, v.Values)
	case *ast.SequenceNode:
		n.Kind = Sequence
		for _, item := range v.Values {
			n.Items = append(n.Items, r.node(item))
		}
	default:
		r.fail(n, "%s is not allowed here", from.Type().YAMLName())
	}
	return n
}

// entries converts keys and values. The place of a mapping is that of its first key.
func (r *reader) entries(n *Node, values []*ast.MappingValueNode) {
	n.Kind = Mapping
	seen := map[string]Node{}
	for i, v := range values {
		key := r.node(v.Key)
		if !key.Kind.scalar() {
			r.fail(key, "a key is a word")
			continue
		}
		if i == 0 && n.Column != 0 {
			n.Line, n.Column = key.Line, key.Column
		}
		if first, twice := seen[key.Text]; twice {
			r.fail(key, "the key %q is here twice: it is on line %d already", Clip(key.Text), first.Line)
			continue
		}
		seen[key.Text] = key
		n.Entries = append(n.Entries, Entry{key, r.node(v.Value)})
	}
}
