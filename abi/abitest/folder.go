package abitest

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	folderTemplate = "kit://folder/{name}"
	someTemplate   = "kit://some/{name}"
)

// A listed file is one that a folder has at least while it is listed.
type listed struct {
	name  string
	text  string // what reading it gives
	size  uint64 // that the host says, if it is not that of text
	isDir bool
	err   abi.Code // of reading it
}

// A listing is a folder with files, in the order of their names.
type listing struct {
	t     testing.TB
	files []listed
	part  int      // entries that one answer has at most; 0 for all
	err   abi.Code // of the second page
	read  []string // the files that were read
}

const folderTime = 1_100_000_000_000 // when the files of a listing have changed last, in milliseconds

func (l *listing) services() map[abi.Service]Service {
	return map[abi.Service]Service{abi.ServiceFileList: l.list, abi.ServiceFileRead: l.get}
}

func (l *listing) list(request []byte) (message, body []byte, err error) {
	var req abi.FileRequest
	if err := req.Decode(request); err != nil {
		l.t.Errorf("a malformed request: %v", err)
	}
	switch {
	case req.Path == "/kit/file":
		return nil, nil, &abi.Error{Code: abi.CodeInvalidParams}
	case req.Path != "/kit/dir":
		return nil, nil, &abi.Error{Code: abi.CodeNotFound}
	case req.After != "" && l.err != 0:
		return nil, nil, &abi.Error{Code: l.err}
	}
	start := 0
	for start < len(l.files) && l.files[start].name <= req.After {
		start++
	}
	end := len(l.files)
	for _, most := range []int{l.part, int(req.Length)} {
		if most > 0 {
			end = min(end, start+most)
		}
	}
	resp := abi.FileResponse{More: end < len(l.files)}
	for _, f := range l.files[start:end] {
		resp.Files = append(resp.Files, f.described())
	}
	return resp.Append(nil), nil, nil
}

func (f *listed) described() abi.File {
	size := uint64(len(f.text))
	if f.size > 0 {
		size = f.size
	}
	if strings.HasPrefix(f.name, "unknown") {
		size = 0
	}
	return abi.File{Name: f.name, Size: size, ModifiedMillis: folderTime, Dir: f.isDir}
}

func (l *listing) get(request []byte) (message, body []byte, err error) {
	var req abi.FileRequest
	if err := req.Decode(request); err != nil {
		l.t.Errorf("a malformed request: %v", err)
	}
	i := slices.IndexFunc(l.files, func(f listed) bool { return "/kit/dir/"+f.name == req.Path })
	if i < 0 {
		return nil, nil, &abi.Error{Code: abi.CodeNotFound}
	}
	f := l.files[i]
	if !slices.Contains(l.read, f.name) {
		l.read = append(l.read, f.name)
	}
	if f.err != 0 {
		return nil, nil, &abi.Error{Code: f.err}
	}
	size := uint64(abi.MaxService)
	if req.Length > 0 {
		size = min(size, req.Length)
	}
	from := min(req.Offset, uint64(len(f.text)))
	now := f.described()
	if f.size > 0 {
		now.Size = uint64(len(f.text))
	}
	r := abi.FileResponse{Files: []abi.File{now}}
	return r.Append(nil), []byte(f.text[from:min(from+size, uint64(len(f.text)))]), nil
}

// texts makes files with texts; names and texts by turns.
func texts(pairs ...string) (files []listed) {
	for pair := range slices.Chunk(pairs, 2) {
		files = append(files, listed{name: pair[0], text: pair[1]})
	}
	return files
}

// numbered makes n files of a text.
func numbered(n int, text string) (files []listed) {
	for i := range n {
		files = append(files, listed{name: fmt.Sprintf("f%05d", i), text: text})
	}
	return files
}

// readFolder reads a folder by one of the templates.
func (k *kit) readFolder(t testing.TB, l *listing, template, name string) Outcome {
	t.Helper()
	l.t = t
	req := k.powered(t, template, "name", name)
	return k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), Services: l.services(), Memory: 16 << 20})
}

// A sent file is what a content of a folder must be.
type sent struct {
	name, mime string
	kind       abi.Kind
	body       string
}

// sentTexts returns the contents expected for the files of texts; names and texts alternate.
func sentTexts(pairs ...string) (all []sent) {
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, sent{pair[0], "text/plain", abi.KindText, pair[1]})
	}
	return all
}

// wantFolder compares the contents of files, and the last content, which is about the folder itself: own is its text
// and meta its _meta. There is none if own is empty.
func wantFolder(t testing.TB, o Outcome, template string, files []sent, own, meta string) {
	t.Helper()
	wantCode(t, o, abi.CodeOK)
	for i, want := range files {
		if i >= len(o.Contents) {
			t.Fatalf("got %d contents, want one for each of %d files", len(o.Contents), len(files))
		}
		got := o.Contents[i]
		wantContent(t, got, "kit://in/dir/"+want.name, want.mime, want.kind, want.body)
		etag := strconv.FormatInt(folderTime, 36) + "-" + strconv.FormatInt(int64(len(want.body)), 36)
		if strings.HasPrefix(want.name, "unknown") {
			etag = strconv.FormatInt(folderTime, 36) + "-0"
		}
		modified, err := time.Parse(time.RFC3339, got.LastModified)
		if got.ETag != etag || err != nil || modified.UnixMilli() != folderTime || got.Meta != "" || got.RangeTotal != 0 {
			t.Errorf("%s: got etag %q, modified %q, _meta %q, of %d bytes; want etag %q", want.name, got.ETag,
				got.LastModified, got.Meta, got.RangeTotal, etag)
		}
	}
	rest := o.Contents[len(files):]
	if own == "" {
		if len(rest) > 0 {
			t.Errorf("got %d more contents, first %s: %.100q", len(rest), rest[0].URI, rest[0].Body)
		}
		return
	}
	if len(rest) != 1 {
		t.Fatalf("got %d contents after those of the files, want the folder's own", len(rest))
	}
	wantContent(t, rest[0], strings.Replace(template, "{name}", "x", 1), "text/plain", abi.KindText, own)
	var got, want any
	if err := json.Unmarshal([]byte(meta), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(rest[0].Meta), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("_meta: got %s, %v, want %s", rest[0].Meta, err, meta)
	}
}

func (k *kit) testFolder(t *testing.T) {
	const mib = 1 << 20
	long := strings.Repeat("größe\n", 20_000) // 160,000 bytes
	large := pattern(0, 400_000)
	image := "KIT is text"
	for name, c := range map[string]struct {
		some  bool // by someTemplate
		files []listed
		part  int
		want  []sent
		own   string
		meta  string
	}{
		"kinds": {
			files: append(texts(".hidden", "x", "a.bin", "\xff\x00", "b.txt", "two\n", "empty", "", "zero", "a\x00b", "ü ?.txt",
				"Zwölf 🦊"), listed{name: "zz", isDir: true}),
			want: []sent{
				{"a.bin", "application/octet-stream", abi.KindBlob, "\xff\x00"}, {"b.txt", "text/plain", abi.KindText, "two\n"},
				{"empty", "text/plain", abi.KindText, ""}, {"zero", "application/octet-stream", abi.KindBlob, "a\x00b"},
				{"%C3%BC%20%3F.txt", "text/plain", abi.KindText, "Zwölf 🦊"},
			},
		},
		"long files": {
			files: texts("bytes", large, "cut", long[:len(long)-5], "text", long, "zero", long+"\x00"),
			want: []sent{
				{"bytes", "application/octet-stream", abi.KindBlob, large},
				{"cut", "application/octet-stream", abi.KindBlob, long[:len(long)-5]},
				{"text", "text/plain", abi.KindText, long}, {"zero", "application/octet-stream", abi.KindBlob, long + "\x00"},
			},
		},
		"pages": {
			files: texts("a", "1", "b", "2", "c", "3", "d", "4", "e", "5"), part: 2,
			want: sentTexts("a", "1", "b", "2", "c", "3", "d", "4", "e", "5"),
		},
		"nothing":        {own: "No files.", meta: `{"folder":{"files":0,"bytes":0}}`},
		"nothing to see": {files: texts(".a", "1"), own: "No files.", meta: `{"folder":{"files":0,"bytes":0}}`},
		"too many": {
			files: numbered(112, "x"), part: 50, want: numberedSent(100, "x"),
			own: `Files left out: 12 (12 bytes), among them "f00100", "f00101", "f00102", "f00103", "f00104", "f00105", ` +
				`"f00106", "f00107", "f00108", "f00109"`,
			meta: `{"folder":{"files":100,"bytes":100,"leftOut":{"files":12,"bytes":12,"names":["f00100","f00101","f00102",` +
				`"f00103","f00104","f00105","f00106","f00107","f00108","f00109"],"reasons":{"maxFiles":12}}}}`,
		},
		"too large": {
			files: texts("a", large, "b", large, `c "d".bin`, large, "e", "small", "f", pattern(1, mib-2*len(large)-5), "g", "1"),
			want: []sent{
				{"a", "application/octet-stream", abi.KindBlob, large}, {"b", "application/octet-stream", abi.KindBlob, large},
				{"e", "text/plain", abi.KindText, "small"},
				{"f", "application/octet-stream", abi.KindBlob, pattern(1, mib-2*len(large)-5)},
			},
			own: `Files left out: 2 (400001 bytes), among them "c \"d\".bin", "g"`,
			meta: `{"folder":{"files":4,"bytes":1048576,"leftOut":{"files":2,"bytes":400001,"names":["c \"d\".bin","g"],` +
				`"reasons":{"maxBytes":2}}}}`,
		},
		"exactly so many": {files: texts("a", pattern(0, mib), "b", ""), want: []sent{
			{"a", "application/octet-stream", abi.KindBlob, pattern(0, mib)}, {"b", "text/plain", abi.KindText, ""},
		}},
		"unknown sizes": {files: texts("unknown", "text", "unknown too", long), want: []sent{
			{"unknown", "text/plain", abi.KindText, "text"}, {"unknown%20too", "text/plain", abi.KindText, long},
		}},
		"it has grown": {
			files: []listed{
				{name: "a", text: "some more", size: 4}, {name: "b", text: "fewer", size: 40}, {name: "c", text: pattern(0, mib), size: 4},
			},
			want: sentTexts("a", "some more", "b", "fewer"),
			own:  `Files left out: 1 (4 bytes), among them "c"`,
			meta: `{"folder":{"files":2,"bytes":14,"leftOut":{"files":1,"bytes":4,"names":["c"],"reasons":{"maxBytes":1}}}}`,
		},
		"unreadable": {
			files: []listed{
				{name: "a", text: "1"}, {name: "b", text: "22", err: abi.CodeNotFound}, {name: "c", text: "333", err: abi.CodeDenied},
				{name: "d", text: "4444", err: abi.CodeInvalidParams}, {name: "e", text: "5"},
			},
			want: sentTexts("a", "1", "e", "5"),
			own:  `Files left out: 3 (9 bytes), among them "b", "c", "d"`,
			meta: `{"folder":{"files":2,"bytes":2,"leftOut":{"files":3,"bytes":9,"names":["b","c","d"],"reasons":{"gone":2,"denied":1}}}}`,
		},
		"names without a URI": {
			files: texts("a\nb", "1", "a\u0085b", "22", "b\\c", "333", "c\u00a0d", "4", "long"+strings.Repeat("ü", 350), "55"),
			want:  sentTexts("c%C2%A0d", "4"),
			own:   `Files left out: 4 (8 bytes)`,
			meta:  `{"folder":{"files":1,"bytes":1,"leftOut":{"files":4,"bytes":8,"names":[],"reasons":{"name":4}}}}`,
		},
		"some": {
			some: true,
			files: texts(".hidden", "x", "a.kit", "text", "b.kit", "\xff", "image", image, "long", pattern(0, 1001), "more",
				"1"),
			want: []sent{
				{".hidden", "text/plain", abi.KindText, "x"}, {"a.kit", "text/x-kit", abi.KindText, "text"},
				{"b.kit", "application/octet-stream", abi.KindBlob, "\xff"},
			},
			own: `Files left out: 3 (1013 bytes), among them "image", "long", "more"`,
			meta: `{"folder":{"files":3,"bytes":6,"leftOut":{"files":3,"bytes":1013,"names":["image","long","more"],` +
				`"reasons":{"maxFiles":3}}}}`,
		},
		"some bytes": {
			some: true, files: texts("image", image, "long", pattern(0, 990), "more", "1"),
			want: []sent{{"image", "image/x-kit", abi.KindBlob, image}, {"more", "text/plain", abi.KindText, "1"}},
			own:  `Files left out: 1 (990 bytes), among them "long"`,
			meta: `{"folder":{"files":2,"bytes":12,"leftOut":{"files":1,"bytes":990,"names":["long"],"reasons":{"maxBytes":1}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &listing{files: c.files, part: c.part}
			template := folderTemplate
			if c.some {
				template = someTemplate
			}
			wantFolder(t, k.readFolder(t, l, template, "dir"), template, c.want, c.own, c.meta)
		})
	}
	t.Run("endless", func(t *testing.T) {
		l := &listing{files: numbered(10_001, ""), part: 1000}
		o := k.readFolder(t, l, someTemplate, "dir")
		wantFolder(t, o, someTemplate, numberedSent(3, ""), `Files left out: more than 9997 (0 bytes), among them "f00003", `+
			`"f00004", "f00005", "f00006", "f00007", "f00008", "f00009", "f00010", "f00011", "f00012"`,
			`{"folder":{"files":3,"bytes":0,"leftOut":{"files":9997,"bytes":0,"more":true,"names":["f00003","f00004","f00005",`+
				`"f00006","f00007","f00008","f00009","f00010","f00011","f00012"],"reasons":{"maxFiles":9997}}}}`)
		if len(l.read) != 3 {
			t.Errorf("the guest reads %d files, want 3", len(l.read))
		}
	})
	t.Run("fails", func(t *testing.T) {
		for name, code := range map[string]abi.Code{
			"missing": abi.CodeNotFound, "file": abi.CodeInvalidParams, "": abi.CodeInvalidParams, "..": abi.CodeInvalidParams,
			"a/../b": abi.CodeInvalidParams,
		} {
			t.Run(fmt.Sprintf("%q", path.Base(name)), func(t *testing.T) {
				l := &listing{}
				o := k.readFolder(t, l, folderTemplate, name)
				if o.Code != code && !(o.Code == abi.CodeNotFound && name != "file") {
					t.Errorf("got %v, want %v", o.Code, code)
				}
			})
		}
		for _, code := range []abi.Code{abi.CodeNotFound, abi.CodeDenied, abi.CodeUnavailable} {
			l := &listing{files: texts("a", "1", "b", "2", "c", "3"), part: 1, err: code}
			wantCode(t, k.readFolder(t, l, folderTemplate, "dir"), code)
		}
		for _, code := range []abi.Code{abi.CodeUnavailable, abi.CodeDeadline} {
			l := &listing{files: []listed{{name: "a", text: "1"}, {name: "b", text: "2", err: code}}}
			wantCode(t, k.readFolder(t, l, folderTemplate, "dir"), code)
		}
	})
	t.Run("version", k.testFolderVersion)
}

// playFolder is a read of a folder of one file. The last answer is that of the file, or a page that says there are more.
func playFolder(more bool) play {
	file := abi.File{Name: "a", Size: 5, ModifiedMillis: folderTime}
	read := abi.FileResponse{Files: []abi.File{file}}
	acts := []act{folderAct(more, file), {abi.ServiceFileRead, fileSchema, read.Append(nil), []byte("value")}}
	if more {
		acts[0], acts[1] = acts[1], acts[0]
	}
	return play{folderTemplate, []string{"name", "dir"}, acts, "value"}
}

// folderAct is a page of a listing.
func folderAct(more bool, files ...abi.File) act {
	return act{abi.ServiceFileList, fileSchema, (&abi.FileResponse{Files: files, More: more}).Append(nil), nil}
}

// numberedSent returns the contents expected for the files of numbered.
func numberedSent(n int, text string) (all []sent) {
	for i := range n {
		all = append(all, sent{fmt.Sprintf("f%05d", i), "text/plain", abi.KindText, text})
	}
	return all
}

// testFolderVersion compares versions of folders: they must differ exactly if the files do.
func (k *kit) testFolderVersion(t *testing.T) {
	ask := func(files []listed, etag string) Outcome {
		t.Helper()
		l := &listing{t: t, files: files, part: 2}
		req := k.powered(t, folderTemplate, "name", "dir")
		req.IfNoneMatch = etag
		return k.do(t, abi.OpPoll, &Exchange{Request: req.Append(nil), Services: l.services()})
	}
	subscribed := k.succeed(t, abi.OpSubscribe, k.powered(t, folderTemplate, "name", "dir"))
	if subscribed.Reply.PollMillis != 1000 {
		t.Errorf("SUBSCRIBE: got poll_ms %d, want 1000", subscribed.Reply.PollMillis)
	}
	base := texts("a", "1", "b", "2", "c", "3")
	hidden := append(texts(".x", "1"), base...)
	first := one(t, ask(base, "")).ETag
	if again := one(t, ask(base, first)); first == "" || !again.NotModified {
		t.Errorf("got etag %q, then %+v, want it not modified", first, again.Content)
	}
	if again := one(t, ask(append(hidden, listed{name: "d", isDir: true}), first)); !again.NotModified {
		t.Error("the version changes with what is hidden, or a folder")
	}
	seen := map[string]bool{first: true}
	for name, files := range map[string][]listed{
		"another": texts("a", "1", "b", "2", "c", "3", "d", "4"), "fewer": texts("a", "1", "b", "2"), "none": nil,
		"renamed": texts("a", "1", "bb", "2", "c", "3"), "larger": texts("a", "1", "b", "2", "c", "33"),
	} {
		got := one(t, ask(files, first))
		if got.NotModified || seen[got.ETag] {
			t.Errorf("%s: got etag %q, not modified %v, want another than before", name, got.ETag, got.NotModified)
		}
		seen[got.ETag] = true
	}
	l := &listing{t: t}
	req := k.powered(t, folderTemplate, "name", "missing")
	wantCode(t, k.do(t, abi.OpPoll, &Exchange{Request: req.Append(nil), Services: l.services()}), abi.CodeNotFound)
}
