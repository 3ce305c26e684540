package session

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
)

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
	for _, m := range v.members {
		if err := e.set(m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func (e *Exchange) set(m member) (err error) {
	switch m.name {
	case "error":
		e.code, err = parseCode(m.value)
	case "files":
		e.response.Files, err = parseFiles(m.value)
	case "more":
		err = m.value.into(&e.response.More)
	case "text":
		var s string
		err = m.value.into(&s)
		e.body = []byte(s)
	case "blob":
		var s string
		if err = m.value.into(&s); err == nil {
			e.body, err = base64.StdEncoding.DecodeString(s)
		}
	default:
		err = errors.New("unknown; an answer has files, more, text, blob, or error")
	}
	return err
}

// into decodes a value as encoding/json does.
func (v *value) into(dst any) error {
	d := json.NewDecoder(strings.NewReader(string(v.append(nil, ""))))
	d.DisallowUnknownFields()
	return d.Decode(dst)
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

func parseFiles(v *value) ([]abi.File, error) {
	var list []struct {
		Name     string
		Size     uint64
		Modified time.Time
		Dir      bool
	}
	if err := v.into(&list); err != nil {
		return nil, err
	}
	files := make([]abi.File, len(list))
	for i, f := range list {
		files[i] = abi.File{Name: f.Name, Size: f.Size, Dir: f.Dir}
		if !f.Modified.IsZero() {
			files[i].ModifiedMillis = f.Modified.UnixMilli()
		}
	}
	return files, nil
}
