package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize bounds a configuration, in bytes. Some clients keep their history in the same file.
const MaxSize = 16 << 20

// A Document is the configuration of a client, as it was when it was read.
type Document struct {
	Client Client
	File   string // as the client names it
	Real   string // the file itself, which differs from File if that is a symbolic link
	Exists bool

	mode fs.FileMode
	raw  []byte // the whole file
	bom  string
	text []byte // without the byte order mark
	root *node
}

// byteOrderMark begins files that some editors of Windows have written.
const byteOrderMark = "\ufeff"

// Open reads the configuration of a client, which need not exist. A configuration that cannot be understood is an error, which
// is a *SyntaxError.
func Open(c Client, s System) (*Document, error) {
	d := &Document{Client: c, File: c.File(s), mode: 0o600}
	if d.File == "" {
		return nil, fmt.Errorf("%s has no configuration file on %s", c.Title, s.OS)
	}
	var err error
	if d.Real, err = followLinks(d.File); err != nil {
		return nil, err
	}
	if c.Project && !isBelow(d.Real, s.Dir) {
		return nil, fmt.Errorf("%s is a link to %s, which is not in this folder: edit that file by hand", d.File, d.Real)
	}
	d.raw, d.mode, err = readFile(d.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		d.Exists = true
	}
	d.text = d.raw
	if rest, ok := bytes.CutPrefix(d.raw, []byte(byteOrderMark)); ok {
		d.bom, d.text = byteOrderMark, rest
	}
	d.root, err = d.parse(d.text)
	return d, err
}

// parse parses a text of the file, whose name its error has.
func (d *Document) parse(text []byte) (*node, error) {
	root, err := d.Client.format.parse(text)
	return root, d.inFile(err)
}

// inFile adds the name of the file to an error that has a line.
func (d *Document) inFile(err error) error {
	if at := (*SyntaxError)(nil); errors.As(err, &at) {
		return &SyntaxError{File: d.File, Line: at.Line, Problem: clip(at.Problem)}
	}
	return err
}

// maxProblem bounds the text of a problem, which may quote the file, in bytes.
const maxProblem = 200

func clip(s string) string {
	if len(s) <= maxProblem {
		return s
	}
	return strings.ToValidUTF8(s[:maxProblem], "") + "…"
}

// followLinks returns the file that a name leads to by symbolic links. It need not exist.
func followLinks(name string) (string, error) {
	const maxLinks = 16
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(name); !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil // it does not exist, and is no link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		name = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", name)
}

// isBelow reports whether a file is in a folder or in one below it.
func isBelow(file, dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// readFile reads a regular file within bounds.
func readFile(name string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0o600, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("%s has more than %d bytes", name, MaxSize)
	}
	return text, info.Mode().Perm(), err
}

// An Entry is a server in a configuration.
type Entry struct {
	Name    string
	Command string // empty for a server that the client does not start
	Args    []string
	Line    int // of the file; 0 if unknown
}

// Entries returns the servers of the configuration, in the order of the file.
func (d *Document) Entries() (entries []Entry) {
	table := d.root.get(d.Client.table)
	if table == nil || table.kind != object {
		return nil
	}
	for i, name := range table.names {
		entries = append(entries, entryOf(name, table.items[i]))
	}
	return entries
}

// Entry returns the server of a name, or reports false if there is none.
func (d *Document) Entry(name string) (Entry, bool) {
	n := d.root.get(d.Client.table).get(name)
	if n == nil {
		return Entry{}, false
	}
	return entryOf(name, n), true
}

func entryOf(name string, n *node) Entry {
	e := Entry{Name: name, Line: n.line}
	for _, key := range []string{"command", "cmd"} {
		if c := n.get(key); c != nil && c.kind == text {
			e.Command = c.text
		}
	}
	if args := n.get("args"); args != nil && args.kind == list {
		for _, a := range args.items {
			e.Args = append(e.Args, a.text)
		}
	}
	return e
}

// IsWasmres reports whether the client starts this server as "wasmres run", by the name of the program or by its path program.
func (e Entry) IsWasmres(program string) bool {
	base := e.Command[strings.LastIndexAny(e.Command, `/\`)+1:]
	named := strings.TrimSuffix(strings.ToLower(base), ".exe") == "wasmres" || program != "" && e.Command == program
	return named && len(e.Args) > 0 && e.Args[0] == "run"
}

// Set returns the change that makes s a server of the client. If it is there already, the change sets only the fields that differ,
// and keeps those that s does not have.
func (d *Document) Set(s Server) (*Change, error) {
	if SafeName(s.Name) != s.Name || s.Name == "" {
		return nil, fmt.Errorf("%q is no name for a server: use lower-case letters, digits and single dashes", s.Name)
	}
	table, err := d.table()
	if err != nil {
		return nil, err
	}
	fields := d.Client.fields(s)
	old := table.get(s.Name)
	if old == nil {
		after, err := d.Client.format.add(d.text, d.Client.table, s.Name, fields)
		if err != nil {
			return nil, d.inFile(err)
		}
		return d.change(after, s.Name, entryNode(&node{kind: object}, fields))
	}
	if old.kind != object {
		return nil, d.inFile(syntaxf(old.line, errUneditable))
	}
	after := d.text
	var set []field
	for _, f := range fields {
		have := old.get(f.name)
		if more, ok := f.value.(map[string]string); ok {
			f.value = merged(have, more)
		}
		if f.initial || equivalent(have, nodeOf(f.value)) {
			continue
		}
		set = append(set, f)
		if after, err = d.Client.format.set(after, d.Client.table, s.Name, f); err != nil {
			return nil, d.inFile(err)
		}
	}
	return d.change(after, s.Name, entryNode(old, set))
}

// merged returns the variables of an entry with more of them.
func merged(have *node, more map[string]string) map[string]string {
	all := map[string]string{}
	if have != nil && have.kind == object {
		for i, name := range have.names {
			all[name] = have.items[i].text
		}
	}
	maps.Copy(all, more)
	return all
}

// entryNode returns an entry with fields set.
func entryNode(n *node, fields []field) *node {
	for _, f := range fields {
		n = n.without(f.name)
		n.names, n.items = append(n.names, f.name), append(n.items, nodeOf(f.value))
	}
	return n
}

// Remove returns the change that removes a server, which must be there.
func (d *Document) Remove(name string) (*Change, error) {
	table, err := d.table()
	if err != nil {
		return nil, err
	}
	if table.get(name) == nil {
		return nil, fmt.Errorf("%s has no server %q", d.File, name)
	}
	after, err := d.Client.format.remove(d.text, d.Client.table, name)
	if err != nil {
		return nil, d.inFile(err)
	}
	return d.change(after, name, nil)
}

// table returns the table of servers; nil if there is none.
func (d *Document) table() (*node, error) {
	table := d.root.get(d.Client.table)
	if table != nil && table.kind != object && !table.isEmpty() {
		return nil, d.inFile(syntaxf(table.line, "%s is not a table of servers", d.Client.table))
	}
	return table, nil
}

// change checks an edited text: it must be the same as before, but for the entry, which must be want; nil for none.
func (d *Document) change(after []byte, name string, want *node) (*Change, error) {
	root, err := d.Client.format.parse(after)
	if err == nil {
		entry := root.get(d.Client.table).get(name)
		if want == nil && entry != nil || want != nil && !sameEntry(want, entry) || !equal(d.rest(d.root, name), d.rest(root, name)) {
			err = errors.New("the rest of the file would not stay as it is")
		}
	}
	if err != nil {
		return nil, &SyntaxError{File: d.File, Line: d.root.get(d.Client.table).lineOr0(), Problem: clip(errUneditable + " (" + err.Error() + ")")}
	}
	return &Change{Document: d, before: d.raw, after: append([]byte(d.bom), after...)}, nil
}

func (n *node) lineOr0() int {
	if n == nil {
		return 0
	}
	return n.line
}

// rest returns a configuration without an entry, and without the table of servers if that is empty then.
func (d *Document) rest(root *node, entry string) *node {
	table := root.get(d.Client.table)
	if table != nil && table.kind == object {
		table = table.without(entry)
	}
	if table.isEmpty() {
		return root.without(d.Client.table)
	}
	c := &node{kind: object, names: root.names}
	for i, name := range root.names {
		item := root.items[i]
		if name == d.Client.table {
			item = table
		}
		c.items = append(c.items, item)
	}
	return c
}

// Snippet returns a configuration of the client that has one server and nothing else.
func (c Client) Snippet(s Server) (string, error) {
	text, err := c.format.add(nil, c.table, s.Name, c.fields(s))
	return string(text), err
}
