package abitest_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// service reads a template that uses what the host grants.
func (g fake) service(req *abi.Request, template string) abi.Code {
	value := func(i int) string { return req.Vars[i].Value }
	switch template {
	case "kit://fetch/{+url}":
		return g.fetch(req, value(0))
	case "kit://post/{+url}":
		return g.post(req, value(0))
	case "kit://rows/{query}":
		return g.rows(req, value(0))
	case "kit://kv/{key}":
		_, body, code := g.get(value(0))
		if code != abi.CodeOK {
			return code
		}
		return g.content(abi.Content{URI: req.URI, Kind: abi.KindBlob, Size: uint64(len(body))}, body...)
	case "kit://keep/{key}/{value}":
		return g.put(req, abi.KVRequest{Key: value(0), Value: []byte(value(1)), TTLMillis: 1500, IfAbsent: true})
	case "kit://swap/{key}/{value}":
		entry, _, code := g.get(value(0))
		if code != abi.CodeOK {
			return code
		}
		return g.put(req, abi.KVRequest{Key: value(0), Value: []byte(value(1)), IfVersion: entry.Version})
	case "kit://drop/{key}":
		var resp abi.KVResponse
		if _, code := g.call(abi.ServiceKVDelete, &abi.KVRequest{Key: value(0)}, &resp); code != abi.CodeOK {
			return code
		}
		return g.text(req.URI, "gone")
	case "kit://keys/{prefix}":
		return g.keys(req, value(0))
	case "kit://file/{name}":
		return g.file(req, "/kit/"+value(0))
	case "kit://write/{name}/{text}":
		return g.write(req, "/kit/"+value(0), value(1))
	case "kit://remove/{name}":
		var resp abi.FileResponse
		if _, code := g.call(abi.ServiceFileRemove, &abi.FileRequest{Path: "/kit/" + value(0)}, &resp); code != abi.CodeOK {
			return code
		}
		return g.text(req.URI, "gone")
	case "kit://folder/{name}":
		return g.folder(req, value(0), folderBounds{files: 100, bytes: 1 << 20})
	case "kit://some/{name}":
		return g.folder(req, value(0), folderBounds{files: 3, bytes: 1000, some: true})
	}
	var resp abi.ConfigResponse
	if _, code := g.call(abi.ServiceConfig, &abi.ConfigRequest{Key: "env:" + value(0)}, &resp); code != abi.CodeOK {
		return code
	}
	return g.text(req.URI, resp.Value)
}

type encoder interface{ Append([]byte) []byte }

type decoder interface{ Decode([]byte) error }

// call asks for a service, and gives the bytes beside its answer.
func (g fake) call(service abi.Service, request encoder, response decoder) (body []byte, code abi.Code) {
	answer := g.x.Call(uint32(service), request.Append(nil))
	if code := abi.FromGuest(uint32(answer >> 32)); code != abi.CodeOK {
		return nil, code
	}
	message := make([]byte, uint32(answer))
	message = message[:g.x.Take(abi.ChannelResponse, message, 0)]
	if response.Decode(message) != nil {
		return nil, abi.CodeInternal
	}
	chunk := make([]byte, 48<<10)
	for {
		n := g.x.Take(abi.ChannelBody, chunk, uint32(len(body)))
		if n == 0 {
			return body, abi.CodeOK
		}
		body = append(body, chunk[:n]...)
	}
}

// rest goes over what follows of a body.
func (g fake) rest(stream uint64, each func([]byte) abi.Code) abi.Code {
	for more := stream != 0; more; {
		var resp abi.StreamResponse
		body, code := g.call(abi.ServiceStream, &abi.StreamRequest{Stream: stream}, &resp)
		if code == abi.CodeOK {
			code = each(body)
		}
		if code != abi.CodeOK {
			return code
		}
		more = resp.More
	}
	return abi.CodeOK
}

func (g fake) fetch(req *abi.Request, url string) abi.Code {
	var resp abi.HTTPResponse
	body, code := g.call(abi.ServiceHTTP, &abi.HTTPRequest{URL: url}, &resp)
	switch status := resp.Status; {
	case code != abi.CodeOK:
		return code
	case status == 404, status == 410:
		return abi.CodeNotFound
	case status == 401, status == 403:
		return abi.CodeDenied
	case status == 408, status == 429, status >= 500:
		seconds, _ := strconv.ParseUint(field(resp.Header, "Retry-After"), 10, 32)
		return g.fail(abi.CodeUnavailable, abi.GuestError{RetryAfterMillis: 1000 * seconds})
	case status < 200, status > 299:
		return abi.CodeInternal
	}
	if code := g.content(abi.Content{URI: req.URI, Kind: abi.KindBlob}, body...); code != abi.CodeOK {
		return code
	}
	return g.rest(resp.Stream, func(body []byte) abi.Code {
		switch g.x.Body(body) {
		case abi.SignalMore:
			return abi.CodeOK
		case abi.SignalTooLarge:
			return abi.CodeTooLarge
		}
		return abi.CodeInternal
	})
}

func field(header []abi.HTTPField, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func (g fake) post(req *abi.Request, url string) abi.Code {
	header := []abi.HTTPField{{Name: "X-Kit", Value: "sent"}}
	var resp abi.HTTPResponse
	body, code := g.call(abi.ServiceHTTP, &abi.HTTPRequest{
		Method: "POST", URL: url, Header: header, Body: []byte("from the kit"), MaxBytes: 1000, TimeoutMillis: 1500,
	}, &resp)
	if code == abi.CodeOK {
		code = g.rest(resp.Stream, func(more []byte) abi.Code {
			body = append(body, more...)
			return abi.CodeOK
		})
	}
	if code != abi.CodeOK {
		return code
	}
	return g.text(req.URI, fmt.Sprintf("%d\n%s\n%s\n%s", resp.Status, resp.URL, field(resp.Header, "x-kit"), body))
}

func (g fake) rows(req *abi.Request, query string) abi.Code {
	args := []abi.SQLValue{
		{}, {Kind: abi.SQLBool, Int: 1}, {Kind: abi.SQLInt, Int: -7}, {Kind: abi.SQLFloat, Float: 1.5},
		{Kind: abi.SQLText, Text: "té"}, {Kind: abi.SQLBytes, Bytes: []byte{0, 255}},
	}
	var resp abi.SQLResponse
	_, code := g.call(abi.ServiceSQL, &abi.SQLRequest{Connection: "main", Query: query, Args: args}, &resp)
	var names []string
	for _, c := range resp.Columns {
		names = append(names, c.Name)
	}
	out := strings.Join(names, "|")
	for code == abi.CodeOK {
		for _, row := range resp.Rows {
			if len(row.Values) != len(names) {
				return abi.CodeInternal
			}
			var cells []string
			for _, v := range row.Values {
				cells = append(cells, cell(v))
			}
			out += "\n" + strings.Join(cells, "|")
		}
		if resp.Stream == 0 {
			return g.text(req.URI, out)
		}
		_, code = g.call(abi.ServiceSQLRows, &abi.StreamRequest{Stream: resp.Stream}, &resp)
	}
	return code
}

func cell(v abi.SQLValue) string {
	switch v.Kind {
	case abi.SQLBool:
		return strconv.FormatBool(v.Int != 0)
	case abi.SQLInt:
		return strconv.FormatInt(v.Int, 10)
	case abi.SQLFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case abi.SQLText:
		return v.Text
	case abi.SQLBytes:
		return fmt.Sprintf("%x", v.Bytes)
	}
	return "null"
}

func (g fake) get(key string) (entry abi.KVEntry, body []byte, code abi.Code) {
	var resp abi.KVResponse
	body, code = g.call(abi.ServiceKVGet, &abi.KVRequest{Key: key}, &resp)
	if code == abi.CodeOK && (len(resp.Entries) != 1 || resp.Entries[0].Size != uint64(len(body))) {
		return entry, nil, abi.CodeInternal
	}
	if code == abi.CodeOK {
		entry = resp.Entries[0]
	}
	return entry, body, code
}

func (g fake) put(req *abi.Request, put abi.KVRequest) abi.Code {
	var resp abi.KVResponse
	_, code := g.call(abi.ServiceKVPut, &put, &resp)
	switch {
	case code != abi.CodeOK:
		return code
	case len(resp.Entries) != 1:
		return abi.CodeInternal
	case resp.Conflict:
		return g.text(req.URI, fmt.Sprint("is ", resp.Entries[0].Version))
	}
	return g.text(req.URI, fmt.Sprint("put ", resp.Entries[0].Version))
}

func (g fake) keys(req *abi.Request, prefix string) abi.Code {
	var out bytes.Buffer
	ask, resp := abi.KVRequest{Prefix: prefix}, abi.KVResponse{More: true}
	for resp.More {
		if _, code := g.call(abi.ServiceKVList, &ask, &resp); code != abi.CodeOK {
			return code
		}
		for _, e := range resp.Entries {
			out.WriteString(e.Key + "\n")
			ask.After = e.Key
		}
	}
	return g.text(req.URI, out.String())
}

func (g fake) file(req *abi.Request, path string) abi.Code {
	var all []byte
	for {
		var resp abi.FileResponse
		body, code := g.call(abi.ServiceFileRead, &abi.FileRequest{Path: path, Offset: uint64(len(all))}, &resp)
		all = append(all, body...)
		switch {
		case code != abi.CodeOK:
			return code
		case len(resp.Files) != 1:
			return abi.CodeInternal
		case len(body) == 0 || resp.Files[0].Size > 0 && uint64(len(all)) >= resp.Files[0].Size:
			return g.content(abi.Content{URI: req.URI, Kind: abi.KindBlob}, all...)
		}
	}
}

func (g fake) write(req *abi.Request, path, text string) abi.Code {
	var resp abi.FileResponse
	for _, part := range []abi.FileRequest{
		{Path: path, Data: []byte(text)}, {Path: path, Data: []byte("\n"), Appends: true},
	} {
		resp = abi.FileResponse{}
		_, code := g.call(abi.ServiceFileWrite, &part, &resp)
		switch {
		case code != abi.CodeOK:
			return code
		case len(resp.Files) != 1:
			return abi.CodeInternal
		}
	}
	return g.text(req.URI, fmt.Sprint(resp.Files[0].Size))
}
