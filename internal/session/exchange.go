package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// An Exchange is one question of a guest to a service of the host, with the answer.
type Exchange struct {
	dialect  *dialect
	question string
	code     abi.Code // CodeOK when there is a response
	response response
	body     []byte // beside the response
}

// Question gives the short form of the question, as in "fs.stat /project/README.md". It is that of files, and equal
// questions have equal ones.
func (e *Exchange) Question() string { return e.question }

// parseExchange reads the words of a question.
func parseExchange(words []string) (*Exchange, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("write it as: host SERVICE …, where the service is one of %s", dialectNames())
	}
	d := dialectNamed(words[0])
	if d == nil {
		return nil, fmt.Errorf("there is no service %.64q: it is one of %s", words[0], dialectNames())
	}
	q, err := d.parse(words[1:])
	if err != nil {
		return nil, err
	}
	return &Exchange{dialect: d, question: d.format(q)}, nil
}

// answer gives what the guest gets.
func (e *Exchange) answer() (capability.Response, error) {
	if e.code != abi.CodeOK {
		return capability.Response{}, abi.Errorf(e.code, "%s, as it is recorded", e.code)
	}
	return capability.Response{Message: e.response.Append(nil), Body: e.body}, nil
}

// take keeps what a service has answered.
func (e *Exchange) take(resp capability.Response, err error) error {
	if err != nil {
		e.code = min(abi.CodeOf(err), abi.CodeInternal)
		return nil
	}
	if len(resp.Body) > 0 && !e.dialect.hasBody {
		return errors.New("there are bytes beside it")
	}
	e.body = slices.Clone(resp.Body)
	return e.read(slices.Clone(resp.Message))
}

// read fills the response from a message, which it keeps.
func (e *Exchange) read(message []byte) error {
	e.response = e.dialect.response()
	if err := e.response.Decode(message); err != nil {
		return err
	}
	return e.response.check()
}

// String gives the answer as it stands in files: JSON, then a section for a text that is not a plain line.
func (e *Exchange) String() string {
	head, texts := lift(e.value(), overItself)
	return string(appendParts(nil, head, texts))
}

func (e *Exchange) value() *value {
	if e.code != abi.CodeOK {
		return object(member{"error", text(e.code.String())})
	}
	v := object(e.response.members()...)
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
	if v, err = lower(v, texts, overItself, false); err != nil {
		return err
	}
	e.response = e.dialect.response()
	for _, m := range v.members {
		if err := e.set(m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return e.read(e.response.Append(nil)) // as the guest will
}

func (e *Exchange) set(m member) (err error) {
	switch {
	case m.name == "error":
		e.code, err = parseCode(m.value)
		return err
	case m.name == "text" && e.dialect.hasBody, m.name == "blob" && e.dialect.hasBody:
		var s string
		if err = m.value.into(&s); err == nil {
			e.body, err = decodeBytes(m.name, s)
		}
		return err
	}
	err = e.response.set(m)
	if err != errUnknown {
		return err
	}
	known := slices.Clone(e.dialect.answers)
	if e.dialect.hasBody {
		known = append(known, "text", "blob")
	}
	return fmt.Errorf("unknown; an answer has %s, or error", strings.Join(known, ", "))
}

// parseCode reads the name of a code that guests may get.
func parseCode(v *value) (abi.Code, error) {
	for code := abi.CodeNotFound; code <= abi.CodeInternal; code++ {
		if v.kind == kindString && v.text == code.String() {
			return code, nil
		}
	}
	return 0, errors.New("it is the name of a code, as in \"not_found\" or \"denied\"")
}
