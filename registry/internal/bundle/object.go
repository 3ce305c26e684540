package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// maxMembers bounds the members of an object and the entries of an array.
const maxMembers = 256

// An object is a JSON object whose members are not decoded yet. Their names are exact, and each is there once: package json
// takes names in any case and the last of several, other programs the first.
type object map[string]json.RawMessage

// parseObject parses one object. Of what is nested in it, it checks the syntax. With known, members of other names are refused,
// as sigstore's protocol buffers refuse them.
func parseObject(text []byte, known ...string) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	o := object{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("it is no JSON object")
		}
		if _, twice := o[name]; twice {
			return nil, fmt.Errorf("it has the member %.50q twice", name)
		}
		if known != nil && !slices.Contains(known, name) {
			return nil, fmt.Errorf("it has the unknown member %.50q", name)
		}
		if len(o) == maxMembers {
			return nil, fmt.Errorf("it has more than %d members", maxMembers)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("the member %.50q is no JSON", name)
		}
		o[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("its JSON ends too early")
	}
	if d.More() || len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		return nil, errors.New("text follows its JSON")
	}
	return o, nil
}

// object returns a member that is an object, with known members if they are given.
func (o object) object(name string, known ...string) (object, error) {
	value, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("the member %s is missing", name)
	}
	inner, err := parseObject(value, known...)
	if err != nil {
		return nil, fmt.Errorf("the member %s: %w", name, err)
	}
	return inner, nil
}

// text returns a member that is a string.
func (o object) text(name string) (string, error) {
	value, ok := o[name]
	if !ok {
		return "", fmt.Errorf("the member %s is missing", name)
	}
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return "", fmt.Errorf("the member %s is no string", name)
	}
	return s, nil
}

// array returns the entries of a member that is an array.
func (o object) array(name string) ([]json.RawMessage, error) {
	value, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("the member %s is missing", name)
	}
	var entries []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &entries) != nil {
		return nil, fmt.Errorf("the member %s is no array", name)
	}
	return entries, nil
}
