package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Load reads a session from a file.
func Load(file string) (*Session, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse reads a session from text, of at most MaxSize bytes. name is the file's, for errors, which begin with NAME:LINE.
func Parse(name string, text []byte) (*Session, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: the file has more than %d bytes: split it into several sessions", name, MaxSize)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s: the file is not UTF-8: convert it", name)
	}
	p := &parser{name: name, session: &Session{}, seen: map[string]bool{}}
	if err := p.collect(string(text)); err != nil {
		return nil, err
	}
	for _, s := range p.sections {
		if err := p.add(s); err != nil {
			return nil, p.where(s, err)
		}
	}
	return p.session, nil
}

// A parser reads one file.
type parser struct {
	name     string
	session  *Session
	sections []*section
	seen     map[string]bool // kinds of the head's sections that have been read
	values   int             // JSON values in all answers so far
}

// A section is a section of the archive and the text sections that follow it.
type section struct {
	line  int      // of its marker
	name  string   // the marker without its dashes
	words []string // of the name
	body  []byte
	texts []string
}

// where adds the file and the line to an error.
func (p *parser) where(s *section, err error) error {
	line := s.line
	var position *positionError
	if errors.As(err, &position) {
		line += 1 + bytes.Count(s.body[:min(position.offset, int64(len(s.body)))], []byte("\n"))
	}
	return fmt.Errorf("%s:%d: %w", p.name, line, err)
}

// collect splits a txtar archive into sections. It adds each text section to the section before it.
func (p *parser) collect(text string) error {
	s := &section{} // the comment, which has no name
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n") // accepts the line ends of Windows
		name, ok := marker(line)
		if !ok {
			s.body = append(append(s.body, line...), '\n')
			continue
		}
		if err := p.end(s); err != nil {
			return err
		}
		s = &section{line: number, name: name}
	}
	return p.end(s)
}

// marker returns the name of the section that a line begins, if the line is a marker.
func marker(line string) (name string, ok bool) {
	rest, begins := strings.CutPrefix(line, "-- ")
	rest, ends := strings.CutSuffix(rest, " --")
	name = strings.TrimSpace(rest)
	return name, begins && ends && name != ""
}

// end adds a section whose last line has been read.
func (p *parser) end(s *section) (err error) {
	if s.name == "" {
		p.session.Comment = string(s.body)
		return nil
	}
	if s.words, err = split(s.name); err != nil {
		return p.where(s, err)
	}
	if len(s.words) != 1 || s.words[0] != "text" {
		p.sections = append(p.sections, s)
		return nil
	}
	text, err := parseText(string(s.body))
	if err != nil {
		return p.where(s, err)
	}
	if len(p.sections) == 0 {
		return p.where(s, errors.New("a text section has no answer before it: move it below the answer it belongs to"))
	}
	last := p.sections[len(p.sections)-1]
	last.texts = append(last.texts, text)
	return nil
}

const sections = "write a section as list, templates, read URI, directory URI, complete TEMPLATE VARIABLE=PREFIX, text, " +
	"crash OPERATION URI, host SERVICE …, time TIME, seed NUMBER, limits, or grants"

func (p *parser) add(s *section) error {
	if len(s.words) == 0 {
		return errors.New("a section has no name: " + sections)
	}
	switch s.words[0] {
	case "host":
		return p.addExchange(s)
	case "time", "seed", "limits", "grants":
		return p.addHead(s)
	}
	request, ok, err := parseRequest(s.words)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("unknown section %.64q: %s", s.words[0], sections)
	case len(p.session.Steps) == MaxSteps:
		return fmt.Errorf("the file has more than %d steps: split it into several sessions", MaxSteps)
	}
	step := &Step{Line: s.line, Request: request}
	p.session.Steps = append(p.session.Steps, step)
	if request.Kind == Crashed {
		step.Crash, err = parseCrash(&request, s.body)
		return err
	}
	if len(bytes.TrimSpace(s.body)) == 0 && len(s.texts) == 0 {
		return nil
	}
	if step.Want, err = parseAnswer(s.body, s.texts); err != nil {
		return err
	}
	if p.values += step.Want.v.count(); p.values > maxValues {
		return errTooMany
	}
	return nil
}

func (p *parser) addExchange(s *section) error {
	e, err := parseExchange(s.words[1:])
	if err != nil {
		return err
	}
	if err := e.parse(s.body, s.texts); err != nil {
		return err
	}
	if p.values += e.value().count(); p.values > maxValues {
		return errTooMany
	}
	to := &p.session.Host
	if n := len(p.session.Steps); n > 0 {
		to = &p.session.Steps[n-1].Host
	}
	*to = append(*to, *e)
	return nil
}
