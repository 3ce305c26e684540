package session

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// An Exchange is one question of a guest to a service of the host, with the answer.
type Exchange struct {
	service  abi.Service
	request  abi.FileRequest
	code     abi.Code // CodeOK when there is an answer
	response abi.FileResponse
	body     []byte
}

// services are those whose exchanges are kept, by the names files have for them.
var services = map[abi.Service]string{
	abi.ServiceFileStat: "fs.stat", abi.ServiceFileRead: "fs.read", abi.ServiceFileList: "fs.list",
}

// Question gives the short form of the question, as in "fs.stat /project/README.md". It is that of files.
func (e *Exchange) Question() string {
	words := []string{services[e.service], word(e.request.Path)}
	if e.request.Offset > 0 {
		words = append(words, pair("offset", strconv.FormatUint(e.request.Offset, 10)))
	}
	if e.request.Length > 0 {
		words = append(words, pair("length", strconv.FormatUint(e.request.Length, 10)))
	}
	if e.request.After != "" {
		words = append(words, pair("after", e.request.After))
	}
	return strings.Join(words, " ")
}

// parseQuestion reads the words of Question.
func parseQuestion(words []string) (e Exchange, err error) {
	if len(words) < 2 {
		return e, errors.New("write it as: host fs.stat PATH")
	}
	known := false
	for service, name := range services {
		if name == words[0] {
			e.service, known = service, true
		}
	}
	if !known {
		return e, fmt.Errorf("there is no service %.64q: it is one of fs.stat, fs.read, fs.list", words[0])
	}
	e.request.Path = words[1]
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "offset":
			e.request.Offset, err = strconv.ParseUint(value, 10, 64)
		case "length":
			e.request.Length, err = strconv.ParseUint(value, 10, 64)
		case "after":
			e.request.After = value
		default:
			err = fmt.Errorf("%.64q is none of offset=N, length=N, after=NAME", w)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
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
	if err := e.response.Decode(resp.Message); err != nil {
		return err
	}
	for _, f := range e.response.Files {
		if year := time.UnixMilli(f.ModifiedMillis).UTC().Year(); year < 0 || year > 9999 {
			return fmt.Errorf("the time of change of %.128q is out of range: touch it", f.Name)
		}
	}
	e.body = slices.Clone(resp.Body)
	return nil
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
	var files []*value
	for i := range e.response.Files {
		files = append(files, fileValue(&e.response.Files[i]))
	}
	v := object(member{"files", array(files)})
	if e.response.More {
		v = v.with("more", &value{text: "true"})
	}
	switch {
	case len(e.body) == 0:
		return v
	case utf8.Valid(e.body):
		return v.with("text", text(string(e.body)))
	}
	return v.with("blob", text(base64.StdEncoding.EncodeToString(e.body)))
}

// times of change have milliseconds.
const timeLayout = "2006-01-02T15:04:05.999Z07:00"

func fileValue(f *abi.File) *value {
	v := object(member{"name", text(f.Name)})
	if f.Size > 0 {
		v = v.with("size", &value{text: strconv.FormatUint(f.Size, 10)})
	}
	if f.ModifiedMillis != 0 {
		v = v.with("modified", text(time.UnixMilli(f.ModifiedMillis).UTC().Format(timeLayout)))
	}
	if f.Dir {
		v = v.with("dir", &value{text: "true"})
	}
	return v
}
