// Command unwind has the functions of a WebAssembly module return while a jump is under way: see unwinding.c. It reads
// the text form of a module from stdin, as wasm2wat writes it, and writes the changed text to stdout.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	m, err := parse(strings.Split(string(text), "\n"))
	if err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	m.write(out)
	if err := out.Flush(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "unwind:", err)
	os.Exit(1)
}

const (
	jump  = "$emscripten_longjmp"
	begin = "$unwind_begin" // sets the global
	catch = "$invoke_"      // begins the names of functions that end an unwinding
)

// A module is the lines of its text, and what they say.
type module struct {
	lines     []string
	functions map[string]*function
	unwinding string // the global
}

// A function is what unwind knows of one.
type function struct {
	calls    map[string]bool
	indirect bool   // it calls a function of a table
	result   string // its type; empty for none
	jumps    bool   // it may return during an unwinding
}

var (
	head       = regexp.MustCompile(`^  \(func (\$\S+|\(;\d+;\)) \(type \d+\)(?: \(param [^)]*\))?(?: \(result ([^)]*)\))?`)
	directCall = regexp.MustCompile(`^\s*(call (\S+?))(\)*)$`)
	tableCall  = regexp.MustCompile(`^\s*(call_indirect(?: \S+)? \(type \d+\))(\)*)$`)
	setGlobal  = regexp.MustCompile(`^\s*global\.set (\S+?)\)*$`)
)

func parse(lines []string) (*module, error) {
	m := &module{lines: lines, functions: map[string]*function{}}
	name, f := "", (*function)(nil)
	for _, line := range lines {
		if h := head.FindStringSubmatch(line); h != nil {
			name, f = strings.Trim(h[1], "(;)"), &function{calls: map[string]bool{}, result: h[2]}
			m.functions[name] = f
		} else if f == nil {
			continue
		} else if c := directCall.FindStringSubmatch(line); c != nil {
			f.calls[c[2]] = true
		} else if tableCall.MatchString(line) {
			f.indirect = true
		} else if g := setGlobal.FindStringSubmatch(line); g != nil && name == begin {
			m.unwinding = g[1]
		}
	}
	if m.unwinding == "" || m.functions[jump] == nil {
		return nil, fmt.Errorf("the module has no %s that sets a global, or no %s: link unwinding.c and keep names", begin, jump)
	}
	m.findJumps()
	return m, nil
}

// findJumps finds the functions that may return during an unwinding: those that call such a function, or any function of
// a table.
func (m *module) findJumps() {
	m.functions[jump].jumps = true
	for changed := true; changed; {
		changed = false
		for name, f := range m.functions {
			if !f.jumps && !strings.HasPrefix(name, catch) && (f.indirect || m.callsJump(f)) {
				f.jumps, changed = true, true
			}
		}
	}
}

func (m *module) callsJump(f *function) bool {
	for callee := range f.calls {
		if g := m.functions[callee]; g != nil && g.jumps {
			return true
		}
	}
	return false
}

func (m *module) write(w *bufio.Writer) {
	var f *function // of the line; nil where nothing is to be changed
	for _, line := range m.lines {
		if h := head.FindStringSubmatch(line); h != nil {
			name := strings.Trim(h[1], "(;)")
			if f = m.functions[name]; !f.jumps || name == jump {
				f = nil
			}
		}
		call, closing := "", ""
		if f != nil {
			if c := directCall.FindStringSubmatch(line); c != nil && m.functions[c[2]] != nil && m.functions[c[2]].jumps {
				call, closing = c[1], c[3]
			} else if c := tableCall.FindStringSubmatch(line); c != nil {
				call, closing = c[1], c[2]
			}
		}
		if call == "" {
			fmt.Fprintln(w, line)
			continue
		}
		fmt.Fprintf(w, "%s\nglobal.get %s\nif\n", call, m.unwinding)
		if f.result != "" {
			fmt.Fprintf(w, "%s.const 0\n", f.result)
		}
		fmt.Fprintf(w, "return\nend%s\n", closing)
	}
}
