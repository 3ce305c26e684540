package uritemplate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a template. An error says what is wrong and at which byte.
func Parse(template string) (*Template, error) {
	if template == "" {
		return nil, fmt.Errorf("uri template is empty")
	}
	if len(template) > maxTemplate {
		return nil, fmt.Errorf("uri template is %d bytes long, the most is %d", len(template), maxTemplate)
	}
	p := parser{source: template, t: &Template{source: template}, seen: map[string]bool{}}
	for p.at < len(template) {
		next := p.literal
		if template[p.at] == '{' {
			next = p.expression
		}
		if err := next(); err != nil {
			return nil, err
		}
	}
	p.t.finish()
	return p.t, nil
}

// A parser is one run of Parse.
type parser struct {
	source      string
	at          int // the next byte to read
	t           *Template
	seen        map[string]bool // normal forms of the names so far
	expressions int
}

// fault says what is wrong at a byte of the template.
func fault(at int, format string, args ...any) error {
	return fmt.Errorf("uri template: byte %d: %s", at, fmt.Sprintf(format, args...))
}

// literal reads up to the next expression.
func (p *parser) literal() error {
	begin, end := p.at, len(p.source)
	if i := strings.IndexByte(p.source[begin:], '{'); i >= 0 {
		end = begin + i
	}
	for p.at < end {
		r, size := utf8.DecodeRuneInString(p.source[p.at:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fault(p.at, "invalid UTF-8")
		case r == '}':
			return fault(p.at, "closing brace without an opening one")
		case r == '%':
			if _, ok := escape(p.source[p.at:]); !ok {
				return fault(p.at, "percent sign without two hex digits")
			}
		case r <= ' ' || unicode.IsControl(r) || strings.ContainsRune("\"<>\\^`|", r):
			return fault(p.at, "character %q is not allowed in a literal", r)
		}
		p.at += size
	}
	p.t.parts = append(p.t.parts, part{literal: newLiteral(p.source[begin:end])})
	return nil
}

// expression reads from an opening to a closing brace.
func (p *parser) expression() error {
	begin := p.at
	if p.expressions++; p.expressions > maxExpressions {
		return fault(begin, "more than %d expressions", maxExpressions)
	}
	size := strings.IndexByte(p.source[begin:], '}')
	if size < 0 {
		return fault(begin, "expression is never closed")
	}
	end := begin + size
	p.at++
	op, ok := operatorOf(p.source[p.at])
	if ok {
		p.at++
	}
	if c := p.source[p.at]; !ok && strings.IndexByte("=,!@|", c) >= 0 {
		return fault(p.at, "operator %q is reserved", c)
	}
	e := &expression{op: op, first: len(p.t.vars)}
	for {
		if err := p.variable(e); err != nil {
			return err
		}
		if p.at == end {
			break
		}
		if c := p.source[p.at]; c != ',' {
			return fault(p.at, "want a comma or a closing brace after a variable, got %q", c)
		}
		p.at++
	}
	p.at = end + 1
	e.last = len(p.t.vars)
	p.t.parts = append(p.t.parts, part{expr: e})
	return nil
}

// variable reads a name and its modifier.
func (p *parser) variable(e *expression) error {
	begin := p.at
	if err := p.name(); err != nil {
		return err
	}
	v := variable{name: p.source[begin:p.at], part: len(p.t.parts)}
	key := string(appendText(nil, symbols(v.name)))
	if p.seen[key] {
		return fault(begin, "variable %q appears twice", v.name)
	}
	if len(p.t.vars) == maxVariables {
		return fault(begin, "more than %d variables", maxVariables)
	}
	p.seen[key] = true
	if e.op.named {
		if p.t.keys == nil {
			p.t.keys = map[string]int{}
		}
		p.t.keys[key] = len(p.t.vars)
	}
	if err := p.modifier(&v); err != nil {
		return err
	}
	p.t.vars = append(p.t.vars, v)
	return nil
}

// name passes a varname: letters, digits, "_" and escapes, with single dots
// between them. The closing brace is known to follow, so p.at stays in range.
func (p *parser) name() error {
	begin := p.at
	for {
		c := p.source[p.at]
		inside := p.at > begin && p.source[p.at-1] != '.'
		switch {
		case c == '_' || isAlphanumeric(c):
			p.at++
		case c == '%':
			if _, ok := escape(p.source[p.at:]); !ok {
				return fault(p.at, "percent sign without two hex digits")
			}
			p.at += 3
		case c == '.' && inside:
			p.at++
		case inside:
			return nil
		default:
			r, _ := utf8.DecodeRuneInString(p.source[p.at:])
			return fault(p.at, "want a variable name, got %q", r)
		}
	}
}

// modifier passes an optional "*" or ":n", where n is 1 to 9999.
func (p *parser) modifier(v *variable) error {
	switch p.source[p.at] {
	case '*':
		v.explode = true
		p.at++
	case ':':
		begin := p.at
		p.at++
		for ; isDigit(p.source[p.at]) && p.at-begin <= 4; p.at++ {
			v.limit = v.limit*10 + int(p.source[p.at]-'0')
		}
		if v.limit == 0 || p.source[begin+1] == '0' || isDigit(p.source[p.at]) {
			return fault(begin, "want a prefix length from 1 to 9999")
		}
	}
	return nil
}
