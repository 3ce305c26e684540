package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// dialects are those of all services whose exchanges are kept.
var dialects = slices.Concat(fileDialects, kvDialects, httpDialects, sqlDialects, envDialects)

// A dialect is how files write what one service is asked and what it answers.
type dialect struct {
	service    abi.Service
	name       string   // as in "fs.stat"
	capability string   // that the service is a part of
	places     string   // the words that every question has, for people
	options    string   // those that come after them, for people; empty when there are none
	answers    []string // the members of an answer
	hasBody    bool     // an answer may have bytes, as text or blob
	question   func() question
	response   func() response
}

// A question is a request in words.
type question interface {
	// Decode fills it from what a guest asks, which it may keep views of.
	Decode(request []byte) error
	// places are the words that come first.
	places() []*string
	// options gives the words after them, each ready to stand in a line.
	options() []string
	// setOption fills it from one of them, NAME=VALUE or NAME alone. It gives errUnknown for another name.
	setOption(name, value string) error
	// check finds what is wrong with the places, and puts them into the one form they have.
	check() error
}

// A response is an answer in JSON.
type response interface {
	// Decode fills it from what a service answers, which it may keep views of.
	Decode(message []byte) error
	// Append appends what the guest gets.
	Append(b []byte) []byte
	// check finds what JSON could not say.
	check() error
	// members gives it as an object. Those without a value are left out.
	members() []member
	// set fills it from one member. It gives errUnknown for another name.
	set(m member) error
}

// errUnknown is about a name.
var errUnknown = errors.New("unknown")

// dialectNamed gives the dialect of a service by the name it has in files, or nil.
func dialectNamed(name string) *dialect {
	i := slices.IndexFunc(dialects, func(d *dialect) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return dialects[i]
}

// dialectOf gives the dialect of a service, or nil.
func dialectOf(id abi.Service) *dialect {
	i := slices.IndexFunc(dialects, func(d *dialect) bool { return d.service == id })
	if i < 0 {
		return nil
	}
	return dialects[i]
}

// dialectNames lists the services for people.
func dialectNames() string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.name)
	}
	return strings.Join(names, ", ")
}

// format gives a question as one line.
func (d *dialect) format(q question) string {
	words := []string{d.name}
	for _, place := range q.places() {
		words = append(words, word(*place))
	}
	return strings.Join(append(words, q.options()...), " ")
}

// parse reads the words of a question after the name of the service.
func (d *dialect) parse(words []string) (question, error) {
	q := d.question()
	places := q.places()
	if len(words) < len(places) {
		return nil, fmt.Errorf("write it as: host %s %s", d.name, d.places)
	}
	for i, place := range places {
		*place = words[i]
	}
	for _, w := range words[len(places):] {
		name, value, _ := strings.Cut(w, "=")
		err := q.setOption(name, value)
		switch {
		case err == errUnknown && d.options == "":
			return nil, fmt.Errorf("%.64q is too much: write it as: host %s %s", w, d.name, d.places)
		case err == errUnknown:
			return nil, fmt.Errorf("%.64q is none of %s", w, d.options)
		case err != nil:
			return nil, fmt.Errorf("%.64q: %w", w, err)
		}
	}
	return q, q.check()
}
