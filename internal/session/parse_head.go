package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// addHead reads a section of the head, which holds for all steps.
func (p *parser) addHead(s *section) error {
	kind := s.words[0]
	if p.seen[kind] || len(p.session.Steps) > 0 || len(s.texts) > 0 {
		return fmt.Errorf("section %s: write it once, before the first step, and without a text section", kind)
	}
	p.seen[kind] = true
	switch kind {
	case "time":
		return p.addTime(s)
	case "seed":
		return p.addSeed(s)
	case "limits":
		return p.addLimits(s)
	}
	return p.addGrants(s)
}

// argument returns the second word of a section that has two words and no body.
func (s *section) argument() (arg string, ok bool) {
	if len(s.words) != 2 || len(bytes.TrimSpace(s.body)) > 0 {
		return "", false
	}
	return s.words[1], true
}

func (p *parser) addTime(s *section) (err error) {
	arg, ok := s.argument()
	if ok {
		p.session.Time, err = time.Parse(time.RFC3339, arg)
	}
	if !ok || err != nil {
		return errors.New("write it as: time 2026-11-22T07:00:00Z")
	}
	return p.session.Clock().Check()
}

func (p *parser) addSeed(s *section) (err error) {
	arg, ok := s.argument()
	if ok {
		p.session.Seed, err = strconv.ParseUint(arg, 10, 64)
	}
	if !ok || err != nil {
		return errors.New("write it as: seed NUMBER, of 64 bits")
	}
	return nil
}

func (p *parser) addGrants(s *section) error {
	if len(s.words) > 1 {
		return errors.New("section grants: write the grants as JSON on the lines below")
	}
	v, err := parseValue(s.body)
	if err != nil {
		return err
	}
	var grants struct {
		Config       map[string]string
		Capabilities []string
		Services     []string
	}
	d := json.NewDecoder(bytes.NewReader(v.append(nil, "")))
	d.DisallowUnknownFields()
	if err := d.Decode(&grants); err != nil {
		return fmt.Errorf(`section grants: write it as {"config": {"owner": "ada"}, "capabilities": [%q]}: %w`, CapabilityFS, err)
	}
	for _, c := range grants.Capabilities {
		if !slices.Contains(capabilities, c) {
			return fmt.Errorf("section grants: capability %.64q cannot be replayed: write one of %s", c, strings.Join(capabilities, ", "))
		}
	}
	for _, name := range grants.Services {
		if findFormat(0, name) == nil {
			return fmt.Errorf("section grants: service %.64q cannot be replayed: write one of %s", name, serviceNames())
		}
	}
	p.session.Grants = Grants{Config: grants.Config, Capabilities: grants.Capabilities, Services: grants.Services}
	return nil
}
