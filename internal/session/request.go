package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// A Kind is the kind of a request, by its name in files.
type Kind string

// The kinds of requests.
const (
	List      Kind = "list"      // one page of resources
	Templates Kind = "templates" // one page of templates
	Read      Kind = "read"      // a resource
	Directory Kind = "directory" // one page of the children of a directory resource
	Complete  Kind = "complete"  // values of a template's variable
	Crashed   Kind = "crash"     // a call in which the guest failed
)

// A Request is one request of a client.
type Request struct {
	Kind     Kind
	Cursor   string     // List, Templates, Directory; empty for the first page
	URI      string     // Read, Directory: of the resource; Complete: the template
	Variable string     // Complete: the one to complete
	Prefix   string     // Complete: the value typed so far
	Known    []Argument // Complete: variables known already
	Op       abi.Op     // Crashed; URI is that of the call, and empty for those without one
}

// An Argument is the value of a template's variable.
type Argument struct{ Name, Value string }

// String returns the short form of files, as in "read greeting://Ada".
func (r *Request) String() string {
	words := []string{string(r.Kind)}
	switch r.Kind {
	case List, Templates:
		if r.Cursor != "" {
			words = append(words, pair("cursor", r.Cursor))
		}
	case Read:
		words = append(words, word(r.URI))
	case Directory:
		if words = append(words, word(r.URI)); r.Cursor != "" {
			words = append(words, pair("cursor", r.Cursor))
		}
	case Crashed:
		words = append(words, r.Op.String())
		if r.URI != "" {
			words = append(words, word(r.URI))
		}
	case Complete:
		words = append(words, word(r.URI), pair(r.Variable, r.Prefix))
		for _, k := range r.Known {
			words = append(words, pair(k.Name, k.Value))
		}
	}
	return strings.Join(words, " ")
}

// parseRequest reads the words of a step. ok is false if the first word is no Kind.
func parseRequest(words []string) (r Request, ok bool, err error) {
	r.Kind = Kind(words[0])
	switch r.Kind {
	case List, Templates:
		return r, true, r.parsePage(words[1:])
	case Read:
		if len(words) != 2 {
			return r, true, errors.New("write it as: read URI")
		}
		r.URI = words[1]
		return r, true, nil
	case Directory:
		return r, true, r.parseDirectory(words[1:])
	case Complete:
		return r, true, r.parseCompletion(words[1:])
	case Crashed:
		return r, true, r.parseCrashed(words[1:])
	}
	return r, false, nil
}

func (r *Request) parsePage(words []string) error {
	if len(words) == 0 {
		return nil
	}
	cursor, ok := strings.CutPrefix(words[0], "cursor=")
	if !ok || len(words) > 1 {
		return fmt.Errorf("write it as: %s, or %s cursor=CURSOR", r.Kind, r.Kind)
	}
	r.Cursor = cursor
	return nil
}

func (r *Request) parseDirectory(words []string) error {
	if len(words) == 0 || len(words) == 2 && !strings.HasPrefix(words[1], "cursor=") || len(words) > 2 {
		return errors.New("write it as: directory URI, or directory URI cursor=CURSOR")
	}
	r.URI = words[0]
	return r.parsePage(words[1:])
}

var errCompletion = errors.New(
	"write it as: complete TEMPLATE VARIABLE=PREFIX, then KNOWN=VALUE for variables known already")

func (r *Request) parseCompletion(words []string) error {
	if len(words) < 2 {
		return errCompletion
	}
	r.URI = words[0]
	for i, w := range words[1:] {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case !ok || name == "":
			return errCompletion
		case i == 0:
			r.Variable, r.Prefix = name, value
		default:
			r.Known = append(r.Known, Argument{Name: name, Value: value})
		}
	}
	return nil
}

// parseCrashed reads the operation, and the URI if there is one.
func (r *Request) parseCrashed(words []string) error {
	if len(words) == 0 || len(words) > 2 || opNames[words[0]] == 0 {
		return errors.New("write it as: crash read URI, or another operation: list, listdir, complete, subscribe, unsubscribe, poll")
	}
	if r.Op = opNames[words[0]]; len(words) == 2 {
		r.URI = words[1]
	}
	return nil
}

// call returns the MCP method and its parameters.
func (r *Request) call() (method string, params any) {
	switch r.Kind {
	case Read:
		return "resources/read", map[string]string{"uri": r.URI}
	case Complete:
		known := map[string]string{}
		for _, k := range r.Known {
			known[k.Name] = k.Value
		}
		return "completion/complete", map[string]any{
			"ref":      map[string]string{"type": "ref/resource", "uri": r.URI},
			"argument": map[string]string{"name": r.Variable, "value": r.Prefix},
			"context":  map[string]any{"arguments": known},
		}
	}
	page := map[string]string{}
	if r.Cursor != "" {
		page["cursor"] = r.Cursor
	}
	switch r.Kind {
	case Templates:
		return "resources/templates/list", page
	case Directory:
		page["uri"] = r.URI
		return "resources/directory/read", page
	}
	return "resources/list", page
}
