package session

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// An Exchange is one question of a guest to a service of the host, with the answer.
type Exchange struct {
	format   *serviceFormat
	question string
	code     abi.Code // CodeOK when there is a response
	response message
	body     []byte // beside the response
}

// Question gives the short form of the question, as in "fs.stat /project/README.md". It is that of files, and equal
// questions have equal ones.
func (e *Exchange) Question() string { return e.question }

// parseExchange reads the words of a question.
func parseExchange(words []string) (*Exchange, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("write it as: host SERVICE …, where the service is one of %s", serviceNames())
	}
	f := findFormat(0, words[0])
	if f == nil {
		return nil, fmt.Errorf("there is no service %.64q: it is one of %s", words[0], serviceNames())
	}
	question, err := f.parseQuestion(words[1:])
	if err != nil {
		return nil, err
	}
	return &Exchange{format: f, question: question, response: zero(f.response)}, nil
}

// answer gives what the guest gets.
func (e *Exchange) answer() (capability.Response, error) {
	if e.code != abi.CodeOK {
		return capability.Response{}, abi.Errorf(e.code, "%s, as it is recorded", e.code)
	}
	return capability.Response{Message: e.response.Append(nil), Body: e.body}, nil
}

// record takes what a service has answered. An error says that a file cannot hold it.
func (e *Exchange) record(resp capability.Response, err error) error {
	if err != nil {
		e.code = min(abi.CodeOf(err), abi.CodeInternal)
		return nil
	}
	if len(resp.Body) > 0 && !e.format.hasBody {
		return errors.New("there are bytes beside it")
	}
	e.body = slices.Clone(resp.Body)
	return e.decodeResponse(slices.Clone(resp.Message))
}

// decodeResponse fills the response from a message of the ABI, which it keeps.
func (e *Exchange) decodeResponse(b []byte) error {
	e.response = zero(e.format.response)
	if err := e.response.Decode(b); err != nil {
		return err
	}
	_, err := encode(reflect.ValueOf(e.response).Elem())
	return err
}

// String gives the answer as it stands in files: JSON, then a section for a text that is not a plain line.
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
		return object() // decodeResponse has refused it
	}
	if len(e.body) == 0 {
		return v
	}
	name, s := encodeBytes(e.body)
	return v.with(name, text(s))
}

// parse fills the answer from what String has made of it.
func (e *Exchange) parse(text []byte, texts []string) error {
	v, err := parseValue(text)
	if err != nil {
		return err
	}
	if v.kind != kindObject {
		return errors.New(`the answer of the host is an object: {"files": […]} or {"error": "not_found"}`)
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
	return e.decodeResponse(e.response.Append(nil)) // which has the limits of the ABI
}

// set takes a member that is not of the response.
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

// parseCode reads the name of a code that guests may get.
func parseCode(v *value) (abi.Code, error) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		if v.kind == kindString && v.text == code.String() {
			return code, nil
		}
	}
	return 0, errors.New(`write the name of a code, as in "not_found" or "denied"`)
}
