package session

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// An Exchange is one question of a guest to a service of the host, and the answer.
type Exchange struct {
	format   *serviceFormat
	question string
	code     abi.Code // CodeOK when there is a response
	response message
	body     []byte // beside the response
}

// Question returns the short form of files, as in "fs.stat /project/README.md". Equal questions have equal short forms.
func (e *Exchange) Question() string { return e.question }

// parseExchange reads the words of a question; the answer is empty.
func parseExchange(words []string) (*Exchange, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("write it as: host SERVICE …; the services are %s", serviceNames())
	}
	f := findFormat(0, words[0])
	if f == nil {
		return nil, fmt.Errorf("unknown service %.64q: write one of %s", words[0], serviceNames())
	}
	question, err := f.parseQuestion(words[1:])
	if err != nil {
		return nil, err
	}
	return &Exchange{format: f, question: question, response: zero(f.response)}, nil
}

// answer returns the answer to the guest.
func (e *Exchange) answer() (capability.Response, error) {
	if e.code != abi.CodeOK {
		return capability.Response{}, abi.Errorf(e.code, "%s, as it is recorded", e.code)
	}
	return capability.Response{Message: e.response.Append(nil), Body: e.body}, nil
}

// record takes the answer of a service. An error means that a file cannot hold it.
func (e *Exchange) record(resp capability.Response, err error) error {
	if err != nil {
		e.code = min(abi.CodeOf(err), abi.CodeInternal)
		return nil
	}
	if len(resp.Body) > 0 && !e.format.hasBody {
		return errors.New("it has a body, which this service never has")
	}
	e.body = slices.Clone(resp.Body)
	return e.decodeResponse(slices.Clone(resp.Message))
}

// decodeResponse fills the response from a message of the ABI, which it keeps. It leaves out what a file does not hold, as fields of a
// value that do not count by its kind: the guest gets the same answer in a recording and in a replay.
func (e *Exchange) decodeResponse(b []byte) error {
	m := zero(e.format.response)
	if err := m.Decode(b); err != nil {
		return err
	}
	v, err := encode(reflect.ValueOf(m).Elem())
	if err != nil {
		return err
	}
	e.response = zero(e.format.response)
	return decodeObject(v, reflect.ValueOf(e.response).Elem())
}

// String returns the form of files: JSON, then a section for a text that JSON would have to escape.
func (e *Exchange) String() string {
	head, texts := extractTexts(e.value(), mapSelf)
	return string(appendParts(nil, head, texts))
}

func (e *Exchange) value() *value {
	if e.code != abi.CodeOK {
		return object(member{"error", text(e.code.String())})
	}
	v, err := encode(reflect.ValueOf(e.response).Elem())
	if err != nil {
		return object() // does not happen: decodeResponse has encoded it
	}
	if len(e.body) == 0 {
		return v
	}
	name, s := encodeBytes(e.body)
	return v.with(name, text(s))
}

// parse is the inverse of String.
func (e *Exchange) parse(text []byte, texts []string) error {
	v, err := parseValue(text)
	if err != nil {
		return err
	}
	if v.kind != kindObject {
		return errors.New(`the answer is not a JSON object: write {"files": […]} or {"error": "not_found"}`)
	}
	if v, err = insertTexts(v, texts, mapSelf, false); err != nil {
		return err
	}
	others := []string{"error"}
	if e.format.hasBody {
		others = []string{"text", "blob", "error"}
	}
	response := &value{kind: kindObject}
	for _, m := range v.members {
		if !slices.Contains(others, m.name) {
			response.members = append(response.members, m)
		} else if err := e.set(m); err != nil {
			return fmt.Errorf("%s: %w", m.name, m.value.at(err))
		}
	}
	if err := decodeObject(response, reflect.ValueOf(e.response).Elem(), others...); err != nil {
		return err
	}
	return e.decodeResponse(e.response.Append(nil)) // checks the limits of the ABI
}

// set reads the member error, text or blob.
func (e *Exchange) set(m member) (err error) {
	if m.name == "error" {
		e.code, err = parseCode(m.value)
		return err
	}
	var s string
	if !m.value.isNull() {
		s, err = m.value.string()
	}
	if err == nil {
		e.body, err = decodeBytes(m.name, s)
	}
	return err
}

// parseCode reads the name of a code that a service may answer with.
func parseCode(v *value) (abi.Code, error) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		if v.kind == kindString && v.text == code.String() {
			return code, nil
		}
	}
	return 0, errors.New(`write the name of a code, as in "not_found" or "denied"`)
}
