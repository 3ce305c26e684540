package abitest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

const fakeEntries = 10_000

type folderBounds struct {
	files, bytes int
	some         bool // of kit://some
}

// entries gives the files of a folder.
func (g fake) entries(name string, hidden bool) (files []abi.File, more bool, code abi.Code) {
	resp, seen := abi.FileResponse{More: true}, 0
	for after := ""; resp.More; {
		resp = abi.FileResponse{}
		if _, code := g.call(abi.ServiceFileList, &abi.FileRequest{Path: "/kit/" + name, After: after}, &resp); code != abi.CodeOK {
			return nil, false, code
		}
		for _, f := range resp.Files {
			if seen++; seen > fakeEntries {
				return files, true, abi.CodeOK
			}
			if after = f.Name; !f.Dir && (hidden || f.Name[0] != '.') {
				files = append(files, f)
			}
		}
	}
	return files, false, abi.CodeOK
}

// listFolder lists a folder as a directory.
func (g fake) listFolder(req *abi.Request) abi.Code {
	for after, more := "", true; more; {
		var resp abi.FileResponse
		ask := abi.FileRequest{Path: "/kit/" + req.Vars[0].Value, After: after}
		if _, code := g.call(abi.ServiceFileList, &ask, &resp); code != abi.CodeOK {
			return code
		}
		if more = resp.More; more && (len(resp.Files) == 0 || resp.Files[len(resp.Files)-1].Name <= after) {
			return abi.CodeInternal
		}
		for _, f := range resp.Files {
			after = f.Name
			entry := abi.Resource{URI: req.URI + "/" + url.PathEscape(f.Name), Name: f.Name, Size: f.Size}
			if f.Dir {
				entry.MIMEType = abi.DirectoryType
			}
			if g.x.Emit((&abi.Reply{Resources: []abi.Resource{entry}}).Append(nil)) < 0 {
				return abi.CodeInternal
			}
		}
	}
	return abi.CodeOK
}

func (g fake) pollFolder(req *abi.Request) abi.Code {
	files, _, code := g.entries(req.Vars[0].Value, false)
	if code != abi.CodeOK {
		return code
	}
	etag := fmt.Sprint("v", files)
	if len(etag) > 200 {
		etag = etag[:200]
	}
	return g.content(abi.Content{URI: req.URI, ETag: etag, NotModified: req.IfNoneMatch == etag})
}

func (g fake) folder(req *abi.Request, name string, most folderBounds) abi.Code {
	files, more, code := g.entries(name, most.some)
	if code != abi.CodeOK {
		return code
	}
	type leftOut struct {
		Files   int            `json:"files"`
		Bytes   uint64         `json:"bytes"`
		More    bool           `json:"more,omitempty"`
		Names   []string       `json:"names"`
		Reasons map[string]int `json:"reasons"`
	}
	meta := struct {
		Files   int      `json:"files"`
		Bytes   int      `json:"bytes"`
		LeftOut *leftOut `json:"leftOut,omitempty"`
	}{}
	left := leftOut{More: more, Names: []string{}, Reasons: map[string]int{}}
	for _, f := range files {
		why, code := g.folderFile(f, name, most, meta.Files, &meta.Bytes)
		switch {
		case code != abi.CodeOK:
			return code
		case why == "":
			meta.Files++
			continue
		}
		left.Files++
		left.Bytes += f.Size
		left.Reasons[why]++
		if why != "name" && len(left.Names) < 10 {
			left.Names = append(left.Names, f.Name)
		}
	}
	if meta.Files > 0 && left.Files == 0 && !more {
		return abi.CodeOK
	}
	own := "No files."
	if left.Files > 0 || more {
		meta.LeftOut = &left
		own = fmt.Sprintf("Files left out: %s%d (%d bytes)", map[bool]string{true: "more than "}[more], left.Files, left.Bytes)
		if len(left.Names) > 0 {
			names, _ := json.Marshal(left.Names)
			own += ", among them " + strings.ReplaceAll(strings.Trim(string(names), "[]"), `","`, `", "`)
		}
	}
	encoded, _ := json.Marshal(map[string]any{"folder": meta})
	return g.content(abi.Content{
		URI: req.URI, MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte(own), Meta: string(encoded),
	})
}

// folderFile answers with a file, or says why not.
func (g fake) folderFile(f abi.File, folder string, most folderBounds, count int, used *int) (why string, code abi.Code) {
	uri := "kit://in/" + folder + "/" + url.PathEscape(f.Name)
	switch {
	case strings.ContainsFunc(f.Name, func(c rune) bool { return unicode.IsControl(c) || c == '\\' }), len(uri) > 2048:
		return "name", abi.CodeOK
	case count == most.files:
		return "maxFiles", abi.CodeOK
	case f.Size > uint64(most.bytes-*used):
		return "maxBytes", abi.CodeOK
	}
	data, size := []byte(nil), uint64(0)
	for more := true; more; {
		var resp abi.FileResponse
		ask := abi.FileRequest{Path: "/kit/" + folder + "/" + f.Name, Offset: uint64(len(data))}
		body, code := g.call(abi.ServiceFileRead, &ask, &resp)
		switch {
		case code == abi.CodeNotFound, code == abi.CodeInvalidParams:
			return "gone", abi.CodeOK
		case code == abi.CodeDenied:
			return "denied", abi.CodeOK
		case code != abi.CodeOK:
			return "", code
		case len(resp.Files) != 1:
			return "", abi.CodeInternal
		}
		size = resp.Files[0].Size
		data = append(data, body...)
		more = len(body) > 0 && (size == 0 || uint64(len(data)) < size)
	}
	if *used+len(data) > most.bytes {
		return "maxBytes", abi.CodeOK
	}
	*used += len(data)
	c := abi.Content{URI: uri, MIMEType: "application/octet-stream", Kind: abi.KindBlob}
	c.ETag = strconv.FormatInt(f.ModifiedMillis, 36) + "-" + strconv.FormatUint(size, 36)
	c.LastModified = time.UnixMilli(f.ModifiedMillis).UTC().Format(time.RFC3339)
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		c.MIMEType, c.Kind = "text/plain", abi.KindText
	}
	switch {
	case most.some && c.Kind == abi.KindText && strings.HasSuffix(f.Name, ".kit"):
		c.MIMEType = "text/x-kit"
	case most.some && bytes.HasPrefix(data, []byte("KIT")):
		c.MIMEType, c.Kind = "image/x-kit", abi.KindBlob
	}
	return "", g.content(c, data...)
}
