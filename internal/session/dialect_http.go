package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// httpDialects are those of the power to fetch.
var httpDialects = []*dialect{
	{
		service: abi.ServiceHTTP, name: "http.fetch", capability: CapabilityHTTP,
		places:  "METHOD URL",
		options: `header="NAME: VALUE", text=TEXT, blob=BASE64, sha256=HEX, maxBytes=N, timeout=MILLISECONDS`,
		answers: []string{"status", "header", "url", "stream"}, hasBody: true,
		question: func() question { return &fetchQuestion{} }, response: func() response { return &fetchResponse{} },
	},
	{
		service: abi.ServiceStream, name: "http.stream", capability: CapabilityHTTP,
		places: "NUMBER", answers: []string{"more"}, hasBody: true,
		question: func() question { return &streamQuestion{} }, response: func() response { return &streamResponse{} },
	},
}

type fetchQuestion struct {
	abi.HTTPRequest
	body payload
}

func (q *fetchQuestion) Decode(request []byte) error {
	err := q.HTTPRequest.Decode(request)
	q.Method, q.body = cmp.Or(q.Method, "GET"), payloadOf(q.Body)
	return err
}

func (q *fetchQuestion) places() []*string { return []*string{&q.Method, &q.URL} }

func (q *fetchQuestion) options() (words []string) {
	for _, h := range q.Header {
		words = append(words, pair("header", headerLine(h)))
	}
	words = q.body.option(words)
	words = numberOption(words, "maxBytes", q.MaxBytes)
	return numberOption(words, "timeout", uint64(q.TimeoutMillis))
}

func (q *fetchQuestion) setOption(name, value string) (err error) {
	switch name {
	case "header":
		h, err := parseHeaderLine(value)
		q.Header = append(q.Header, h)
		return err
	case "maxBytes":
		return setNumber(&q.MaxBytes, value)
	case "timeout":
		n, err := parseNumber(value, 32)
		q.TimeoutMillis = uint32(n)
		return err
	}
	q.body, err = parsePayload(name, value)
	return err
}

func (q *fetchQuestion) check() error { return nil }

type fetchResponse struct{ abi.HTTPResponse }

func (r *fetchResponse) stream() *uint64 { return &r.Stream }

func (r *fetchResponse) check() error {
	for _, h := range r.Header {
		if strings.Contains(h.Name, ":") {
			return fmt.Errorf("%.128q is no name of a header field", h.Name)
		}
	}
	return nil
}

func (r *fetchResponse) members() []member {
	var header *value
	if len(r.Header) > 0 {
		header = array(nil)
	}
	for _, h := range r.Header {
		header.members = append(header.members, member{value: text(headerLine(h))})
	}
	var url *value
	if r.URL != "" {
		url = text(r.URL)
	}
	return []member{
		{"status", unlessZero(uint64(r.Status))}, {"header", header}, {"url", url}, {"stream", unlessZero(r.Stream)},
	}
}

func (r *fetchResponse) set(m member) error {
	switch m.name {
	case "status":
		return m.value.into(&r.Status)
	case "header":
		return r.setHeader(m.value)
	case "url":
		return m.value.into(&r.URL)
	case "stream":
		return m.value.into(&r.Stream)
	}
	return errUnknown
}

func (r *fetchResponse) setHeader(v *value) error {
	var lines []string
	if err := v.into(&lines); err != nil {
		return err
	}
	r.Header = nil
	for _, line := range lines {
		h, err := parseHeaderLine(line)
		if err != nil {
			return err
		}
		r.Header = append(r.Header, h)
	}
	return nil
}

// headerLine gives a header field as HTTP writes it.
func headerLine(h abi.HTTPField) string { return h.Name + ": " + h.Value }

// parseHeaderLine undoes headerLine. The space may be missing.
func parseHeaderLine(line string) (h abi.HTTPField, err error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return h, fmt.Errorf(`%.64q is no header field, as "accept: text/plain" is one`, line)
	}
	return abi.HTTPField{Name: name, Value: strings.TrimPrefix(value, " ")}, nil
}

type streamResponse struct{ abi.StreamResponse }

func (r *streamResponse) check() error { return nil }

func (r *streamResponse) members() []member { return []member{{"more", ifTrue(r.More)}} }

func (r *streamResponse) set(m member) error {
	if m.name != "more" {
		return errUnknown
	}
	return m.value.into(&r.More)
}
