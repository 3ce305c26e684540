package wasmrestest

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
)

type variable struct{ name, value string }

// match finds the template that fits a URI best: most literal characters, then fewest {+…}, then fewest variables, then
// the first. The number is one more than its index; 0 for none.
func match(templates []Entry, uri string) (number int, vars []variable) {
	var best pattern
	for i := range templates {
		t := compile(templates[i].URI)
		if v, ok := t.match(uri); ok && (number == 0 || t.compare(best) > 0) {
			best, number, vars = t, i+1, v
		}
	}
	return number, vars
}

// A pattern is a compiled template.
type pattern struct {
	re       *regexp.Regexp
	specs    []spec // one for each group of re
	literals int
}

// A spec is one variable in an expression.
type spec struct {
	name    string
	op      byte // 0, or one of + # . / ; ? &
	explode bool
}

var expression = regexp.MustCompile(`\{([+#./;?&]?)([^}]*)\}`)

// plain is a character of a value that is not reserved.
const plain = `[\w.~%\x{80}-\x{10FFFF}-]`

// syntax gives, for each operator, what stands before the first variable and between them, and what one may hold.
var syntax = map[byte]struct{ first, sep, chars string }{
	0: {"", ",", plain + `+`}, '+': {"", ",", `.+`}, '#': {"#", ",", `.*`}, '.': {".", ".", `[\w~%\x{80}-\x{10FFFF}-]*`},
	'/': {"/", "/", plain + `*`}, ';': {";", ";", plain + `*`}, '?': {"?", "&", `[^#&]*`}, '&': {"&", "&", `[^#&]*`},
}

// compare is positive when p is more specific than o.
func (p pattern) compare(o pattern) int {
	return cmp.Or(p.literals-o.literals, o.reserved()-p.reserved(), len(o.specs)-len(p.specs))
}

// reserved counts the variables that may hold slashes.
func (p pattern) reserved() (n int) {
	for _, s := range p.specs {
		if s.op == '+' {
			n++
		}
	}
	return n
}

func compile(template string) pattern {
	var p pattern
	var re strings.Builder
	last := 0
	for _, m := range expression.FindAllStringSubmatchIndex(template, -1) {
		literal := template[last:m[0]]
		re.WriteString(regexp.QuoteMeta(literal))
		p.literals += len(literal)
		last = m[1]
		var op byte
		if m[2] < m[3] {
			op = template[m[2]]
		}
		p.expression(&re, op, strings.Split(template[m[4]:m[5]], ","))
	}
	re.WriteString(regexp.QuoteMeta(template[last:]))
	p.literals += len(template) - last
	p.re = regexp.MustCompile(`\A` + re.String() + `\z`)
	return p
}

// expression adds one {…} to the pattern.
func (p *pattern) expression(re *strings.Builder, op byte, names []string) {
	x := syntax[op]
	for i, name := range names {
		s := spec{op: op, explode: strings.HasSuffix(name, "*")}
		s.name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
		p.specs = append(p.specs, s)
		lead := regexp.QuoteMeta(x.sep)
		if i == 0 {
			lead = regexp.QuoteMeta(x.first)
		}
		named := op == ';' || op == '?' || op == '&'
		one := x.chars
		if named {
			one = regexp.QuoteMeta(s.name) + `(?:=` + x.chars + `)?`
		}
		if s.explode {
			one += `(?:` + regexp.QuoteMeta(x.sep) + one + `)*`
		}
		if named || x.first != "" {
			re.WriteString(`(?:` + lead + `(` + one + `))?`)
		} else {
			re.WriteString(lead + `(` + one + `)`)
		}
	}
}

// match gives the decoded variables of a URI that fits.
func (p *pattern) match(uri string) (vars []variable, ok bool) {
	m := p.re.FindStringSubmatchIndex(uri)
	if m == nil {
		return nil, false
	}
	for i, s := range p.specs {
		if m[2*i+2] < 0 {
			continue // an optional part that is absent
		}
		values := []string{uri[m[2*i+2]:m[2*i+3]]}
		if s.explode {
			values = strings.Split(values[0], syntax[s.op].sep)
		}
		for _, value := range values {
			if s.op == ';' || s.op == '?' || s.op == '&' {
				_, value, _ = strings.Cut(value, "=")
			}
			if value, err := url.PathUnescape(value); err == nil {
				vars = append(vars, variable{s.name, value})
			} else {
				return nil, false
			}
		}
	}
	return vars, true
}
