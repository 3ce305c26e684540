package abitest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const (
	fetchTemplate = "kit://fetch/{+url}"
	postTemplate  = "kit://post/{+url}"

	pageURL = "https://example.org/a/b?c=%20&d=e"
)

// A site is an HTTP host with one answer to everything.
type site struct {
	t       testing.TB
	answer  abi.HTTPResponse
	parts   []string // of the body
	err     error    // where another part would be; nil for none
	check   func(*abi.HTTPRequest)
	fetched int // parts
}

func (s *site) services() map[abi.Service]Service {
	return map[abi.Service]Service{abi.ServiceHTTP: s.fetch, abi.ServiceStream: s.stream}
}

func (s *site) fetch(request []byte) (message, body []byte, err error) {
	var req abi.HTTPRequest
	if err := req.Decode(request); err != nil {
		s.t.Errorf("fetch: %v", err)
		return nil, nil, err
	}
	if s.check != nil {
		s.check(&req)
	}
	body, more, err := s.part()
	if err != nil {
		return nil, nil, err
	}
	if s.answer.Stream = 0; more {
		s.answer.Stream = streamID
	}
	return s.answer.Append(nil), body, nil
}

func (s *site) stream(request []byte) (message, body []byte, err error) {
	checkStream(s.t, request)
	body, more, err := s.part()
	if err != nil {
		return nil, nil, err
	}
	return (&abi.StreamResponse{More: more}).Append(nil), body, nil
}

// part returns the next part of the body, and whether the guest is to ask for another.
func (s *site) part() (body []byte, more bool, err error) {
	if s.fetched == len(s.parts) {
		if s.err == nil {
			s.t.Error("the guest asks for more of a body than there is")
			return nil, false, &abi.Error{Code: abi.CodeNotFound}
		}
		return nil, false, s.err
	}
	body = []byte(s.parts[s.fetched])
	s.fetched++
	return body, s.fetched < len(s.parts) || s.err != nil, nil
}

func (k *kit) testFetch(t *testing.T) {
	checkGet := func(req *abi.HTTPRequest) {
		if (req.Method != "" && req.Method != "GET") || req.URL != pageURL || len(req.Body) > 0 {
			t.Errorf("the guest asks %s %s with a body of %d bytes, want GET %s", req.Method, req.URL, len(req.Body), pageURL)
		}
	}
	for name, parts := range map[string][]string{
		"nothing": {""}, "one part": {"a body"}, "last part empty": {"a ", "body", ""}, "empty parts": {"", "a", "", "", "b"},
		"any bytes": {pattern(0, 256), pattern(7, 1000)},
		"large":     {pattern(0, 256<<10), pattern(3, 1<<20), "!", pattern(0, 70_000)},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{t: t, answer: abi.HTTPResponse{Status: 200, URL: pageURL}, parts: parts, check: checkGet}
			wantGranted(t, k.granted(t, s.services(), fetchTemplate, "url", pageURL), abi.KindBlob, strings.Join(parts, ""))
		})
	}
	t.Run("statuses", k.testStatuses)
	t.Run("retry after", k.testRetryAfter)
	for _, code := range []abi.Code{abi.CodeUnavailable, abi.CodeTooLarge, abi.CodeDeadline} {
		t.Run(code.String()+" midway", func(t *testing.T) {
			s := &site{t: t, answer: abi.HTTPResponse{Status: 200, URL: pageURL}, parts: []string{"a", pattern(0, 100_000)}}
			s.err = &abi.Error{Code: code}
			wantCode(t, k.granted(t, s.services(), fetchTemplate, "url", pageURL), code)
		})
	}
}

func (k *kit) testStatuses(t *testing.T) {
	for code, statuses := range map[abi.Code][]uint32{
		abi.CodeOK:          {200, 201, 204, 206, 299},
		abi.CodeNotFound:    {404, 410},
		abi.CodeDenied:      {401, 403},
		abi.CodeUnavailable: {408, 429, 500, 502, 503, 504, 599},
		abi.CodeInternal:    {300, 304, 399, 400, 402, 405, 409, 418, 428, 499},
	} {
		for _, status := range statuses {
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				s := &site{t: t, answer: abi.HTTPResponse{Status: status, URL: pageURL}, parts: []string{"a body"}}
				wantCode(t, k.granted(t, s.services(), fetchTemplate, "url", pageURL), code)
			})
		}
	}
}

func (k *kit) testRetryAfter(t *testing.T) {
	retryAfter := func(name, value string) uint64 {
		header := []abi.HTTPField{{Name: "Content-Type", Value: "text/plain"}, {Name: name, Value: value}}
		s := &site{t: t, answer: abi.HTTPResponse{Status: 503, URL: pageURL, Header: header}, parts: []string{""}}
		o := k.granted(t, s.services(), fetchTemplate, "url", pageURL)
		wantCode(t, o, abi.CodeUnavailable)
		if o.Reply.Error == nil {
			return 0
		}
		return o.Reply.Error.RetryAfterMillis
	}
	for value, want := range map[string]uint64{
		"1": 1000, "120": 120_000, "3600": 3_600_000, "0": 0, "": 0, "-5": 0, "soon": 0, "Sun, 22 Nov 2026 08:00:00 GMT": 0,
	} {
		for _, name := range []string{"Retry-After", "retry-after"} {
			if got := retryAfter(name, value); got != want {
				t.Errorf("%s: %s: got retry_after_ms %d, want %d", name, value, got, want)
			}
		}
	}
	for _, value := range []string{"4294967297", "99999999999999999999", strings.Repeat("9", 1000), "1x", "1e3", "1.5"} {
		retryAfter("Retry-After", value) // whatever it takes that for
	}
}

func (k *kit) testPost(t *testing.T) {
	checkPost := func(req *abi.HTTPRequest) {
		if req.Method != "POST" || req.URL != pageURL || string(req.Body) != "from the kit" {
			t.Errorf("the guest asks %s %s with the body %q", req.Method, req.URL, req.Body)
		}
		if req.MaxBytes != 1000 || req.TimeoutMillis != 1500 {
			t.Errorf("the guest asks with max_bytes %d and timeout_ms %d", req.MaxBytes, req.TimeoutMillis)
		}
		sent := 0
		for _, f := range req.Header {
			if strings.EqualFold(f.Name, "X-Kit") && f.Value == "sent" {
				sent++
			}
		}
		if sent != 1 {
			t.Errorf("the guest sends the header %v", req.Header)
		}
	}
	const elsewhere = "http://example.com/größe"
	for name, c := range map[string]struct {
		answer abi.HTTPResponse
		parts  []string
		want   string
	}{
		"plain": {
			abi.HTTPResponse{Status: 200, URL: pageURL, Header: []abi.HTTPField{{Name: "x-kit", Value: "yes"}}},
			[]string{"pong"}, "200\n" + pageURL + "\nyes\npong",
		},
		"redirected": {
			abi.HTTPResponse{Status: 201, URL: elsewhere, Header: []abi.HTTPField{{Name: "X-Kit", Value: "ja"}}},
			[]string{"grü\xc3", "", "\x9fe", "!"}, "201\n" + elsewhere + "\nja\ngrüße!",
		},
		"several fields": {
			abi.HTTPResponse{Status: 500, URL: pageURL, Header: []abi.HTTPField{
				{Name: "X-Kitten", Value: "no"}, {Name: "Kit", Value: "no"},
				{Name: "X-KIT", Value: "first"}, {Name: "x-kit", Value: "no"},
			}},
			[]string{"it failed", ""}, "500\n" + pageURL + "\nfirst\nit failed",
		},
		"many fields": {
			abi.HTTPResponse{Status: 404, URL: pageURL, Header: manyFields()},
			[]string{"nothing here"}, "404\n" + pageURL + "\nlast\nnothing here",
		},
		"no field": {abi.HTTPResponse{Status: 200, URL: pageURL}, []string{"pong"}, "200\n" + pageURL + "\n\npong"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{t: t, answer: c.answer, parts: c.parts, check: checkPost}
			got := one(t, k.granted(t, s.services(), postTemplate, "url", pageURL))
			got.Body = []byte(strings.TrimSuffix(string(got.Body), "\n"))
			wantContent(t, got, got.URI, "", abi.KindText, c.want)
		})
	}
	t.Run("too large midway", func(t *testing.T) {
		s := &site{t: t, answer: abi.HTTPResponse{Status: 200, URL: pageURL}, parts: []string{"a", "b"}}
		s.err = &abi.Error{Code: abi.CodeTooLarge}
		wantCode(t, k.granted(t, s.services(), postTemplate, "url", pageURL), abi.CodeTooLarge)
	})
}

// manyFields is as large a header as guests get.
func manyFields() (header []abi.HTTPField) {
	for i := range 199 {
		header = append(header, abi.HTTPField{Name: fmt.Sprint("x-", i), Value: fmt.Sprint("value ", i)})
	}
	return append(header, abi.HTTPField{Name: "x-kit", Value: "last"})
}
