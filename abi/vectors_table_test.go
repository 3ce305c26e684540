package abi_test

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// vectors are all golden vectors by name.
func vectors() map[string]vector {
	all := map[string]vector{}
	for _, part := range []map[string]vector{
		specVectors(), requestVectors(), listVectors(), readVectors(), replyVectors(), describeVectors(), serviceVectors(),
		badVectors(), badManifestVectors(),
	} {
		maps.Copy(all, part)
	}
	return all
}

// unhex reads hex digits with blanks between; text within quotes stands for its bytes.
func unhex(s string) []byte {
	var out []byte
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			out = append(out, part...)
			continue
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			panic(err)
		}
		out = append(out, b...)
	}
	return out
}

// lengthened returns a field of wire type 2 with a length of minimal form.
func lengthened(num uint64, data ...[]byte) []byte {
	var all []byte
	for _, d := range data {
		all = append(all, d...)
	}
	b := binary.AppendUvarint(nil, num<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(all))), all...)
}

func content(c abi.Content) *emitted { return &emitted{Contents: []abi.Content{c}} }

func reply(r abi.Reply) *emitted { return &emitted{Reply: r} }

// specVectors are the worked example of docs/abi.md.
func specVectors() map[string]vector {
	user := func(n string) abi.Resource {
		return abi.Resource{URI: "users://" + n, Name: "user-" + n, Title: "User " + n, MIMEType: "text/plain", Size: 64, Priority: 0.5}
	}
	entry := func(n string) string {
		return "0a b5 80 00  0a 0a 'users://" + n + "' 12 07 'user-" + n + "' 1a 07 'User " + n + "' 2a 0a 'text/plain' 30 40 39 00 00 00 00 00 00 e0 3f "
	}
	const ada = "user 42: Ada Lovelace, ada@example.org, groups: staff, admin"
	return map[string]vector{
		"spec-read-request": {message: "Request", about: "READ users://42, which the host has matched with the manifest's first template, users://{user_id}.",
			want: &abi.Request{URI: "users://42", Route: 1, Vars: []abi.Var{{Name: "user_id", Value: "42"}}}},
		"spec-read-reply": {message: "Reply", about: "The answer to READ in one emit, with a length padded to three bytes as SDKs write it.",
			raw:  unhex("1a d6 80 00 0a 0a 'users://42' 12 0a 'text/plain' 1a 3c '" + ada + "'"),
			want: content(abi.Content{URI: "users://42", MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte(ada)})},
		"spec-list-request": {message: "Request", about: "LIST from the cursor 41 on, two entries.",
			want: &abi.Request{Cursor: "41", Limit: 2}},
		"spec-list-reply": {message: "Reply", about: "The answer to LIST: two entries and where to go on.",
			raw:  unhex(entry("41") + entry("42") + "22 02 '43'"),
			want: reply(abi.Reply{Resources: []abi.Resource{user("41"), user("42")}, NextCursor: "43"})},
		"spec-error": {message: "Reply", about: "What is emitted before READ users://0 returns 1, not_found.",
			raw:  unhex("2a 8b 80 00 0a 09 'no user 0'"),
			want: reply(abi.Reply{Error: &abi.GuestError{Message: "no user 0"}})},
		"spec-blob-head": {message: "Reply", about: "The head of a blob of 1 MiB. Its bytes are no message: they are pushed with body, in any chunks.",
			raw: unhex("1a b0 80 00 0a 0e 'blob://1048576' 12 18 'application/octet-stream' 28 02 30 80 80 40"),
			want: content(abi.Content{URI: "blob://1048576", MIMEType: "application/octet-stream", Kind: abi.KindBlob,
				Size: 1 << 20})},
	}
}

func requestVectors() map[string]vector {
	return map[string]vector{
		"request-describe": {message: "Request", about: "DESCRIBE: no field is set, so there are no bytes.", want: &abi.Request{}},
		"request-list":     {message: "Request", about: "LIST from the start, at most 50 entries.", want: &abi.Request{Limit: 50}},
		"request-read": {message: "Request", about: "READ with every field READ has.", want: &abi.Request{
			URI: "file:///notes/a%20b/todo.md?lang=de&lang=fr", Route: 2,
			Vars:        []abi.Var{{Name: "path", Value: "notes"}, {Name: "path", Value: "a b"}, {Name: "path", Value: "todo.md"}, {Name: "lang", Value: "de"}, {Name: "lang", Value: "fr"}, {Name: "none"}},
			RangeOffset: 1 << 33, RangeLength: 4096, IfNoneMatch: `"v1"`, MaxBytes: 64 << 20,
			Principal: &abi.Principal{Subject: "ada", Tenant: "acme", Scopes: []string{"read", "list"}, Claims: `{"groups":["staff"]}`},
			Meta:      `{"example.org/trace":"00-4bf9"}`}},
		"request-complete": {message: "Request", about: "COMPLETE the variable table of a template, with the variable schema known.", want: &abi.Request{
			URI: "db://{schema}/{table}", Vars: []abi.Var{{Name: "schema", Value: "public"}}, Arg: "table", Value: "us"}},
		"request-subscribe":   {message: "Request", about: "SUBSCRIBE to a resource no template matches.", want: &abi.Request{URI: "config://app"}},
		"request-unsubscribe": {message: "Request", about: "UNSUBSCRIBE.", want: &abi.Request{URI: "users://42"}},
		"request-configure":   {message: "Request", about: "CONFIGURE with a configuration and the host's minor version.", want: &abi.Request{Config: `{"greeting":"Grüß Gott"}`, HostMinor: 3}},
		"request-poll": {message: "Request", about: "POLL a watched resource whose etag is known.", want: &abi.Request{
			URI: "users://42", Route: 1, Vars: []abi.Var{{Name: "user_id", Value: "42"}}, IfNoneMatch: `W/"7"`}},
		"request-listdir": {message: "Request", about: "LISTDIR of a directory that a template matches, from a cursor on.", want: &abi.Request{
			URI: "skill://acme/refunds", Route: 1, Vars: []abi.Var{{Name: "path", Value: "acme/refunds"}}, Cursor: "SKILL.md", Limit: 100}},
		"request-extremes": {message: "Request", about: "The greatest numbers.", want: &abi.Request{
			Route: math.MaxUint32, RangeOffset: math.MaxUint64, RangeLength: math.MaxUint64}},
		"request-padded": {message: "Request", about: "Padding is legal: of numbers up to ten bytes, of tags and lengths up to five; so are empty texts that are written out.",
			raw:  unhex("0a 80 80 00  10 81 80 00  1a 85 80 80 80 00 0a 82 00 'id'  22 00  28 8a 80 80 80 80 80 80 80 80 00  b2 86 80 80 00 00"),
			want: &abi.Request{Route: 1, Limit: 10, Vars: []abi.Var{{Name: "id"}}}},
		"request-unknown-fields": {message: "Request", about: "Unknown fields of every wire type are skipped, in embedded messages too.",
			raw: unhex("98 06 96 01  0a 04 'a://'  a1 06 01 02 03 04 05 06 07 08  aa 06 03 'xyz'  b5 06 01 02 03 04" +
				"1a 11 98 06 01 0a 01 'n' ad 06 01 02 03 04 12 03 'val'  f8 ff ff ff 0f 01"),
			want: &abi.Request{URI: "a://", Vars: []abi.Var{{Name: "n", Value: "val"}}}},
		"request-repeated": {message: "Request", about: "A field that is not repeated and comes again replaces what came before; messages are not merged.",
			raw:  unhex("0a 01 'a' 28 01  62 05 0a 03 'ada'  0a 01 'b' 28 02  62 06 12 04 'acme'"),
			want: &abi.Request{URI: "b", Limit: 2, Principal: &abi.Principal{Tenant: "acme"}}},
	}
}

func listVectors() map[string]vector {
	return map[string]vector{
		"reply-empty": {message: "Reply", about: "An empty page: a guest may as well emit nothing.", want: reply(abi.Reply{})},
		"reply-listdir": {message: "Reply", about: "A page of a directory: a directory in it, a file, and where to go on.", want: reply(abi.Reply{
			Resources: []abi.Resource{
				{URI: "skill://acme/refunds/examples", Name: "examples", MIMEType: abi.DirectoryType, Priority: math.NaN()},
				{URI: "skill://acme/refunds/SKILL.md", Name: "SKILL.md", MIMEType: "text/markdown", Size: 1234, Priority: math.NaN()},
			}, NextCursor: "SKILL.md"})},
		"reply-list": {message: "Reply", about: "A page with every field of an entry, and a least one; a priority of zero is not the same as none.", want: reply(abi.Reply{
			Resources: []abi.Resource{{
				URI: "file:///notes/todo.md", Name: "todo.md", Title: "To do", Description: "What is left.\nAnd what is not.",
				MIMEType: "text/markdown", Size: 1234, Priority: 0, LastModified: "2026-11-20T10:00:00Z",
				Audience: abi.AudienceUser | abi.AudienceAssistant,
				Icons: []abi.Icon{
					{Source: "https://example.org/i.png", MIMEType: "image/png", Sizes: []string{"48x48", "96x96"}, Theme: "dark"},
					{Source: "data:image/png;base64,AA=="}},
				Meta: `{"example.org/stars":5}`,
			}, {URI: "config://app", Name: "app", Priority: math.NaN()}},
			NextCursor: "todo.md", TTLMillis: 60_000, CacheScope: abi.CachePublic})},
		"reply-templates": {message: "Reply", about: "Dynamic templates, which are reserved.", want: reply(abi.Reply{
			Templates: []abi.Template{{URITemplate: "users://{user_id}", Name: "user", Priority: math.NaN()}}})},
		"reply-list-unknown-fields": {message: "Reply", about: "An entry of a later minor version with fields unknown now.",
			raw:  unhex("0a 16 0a 03 'a:b' 12 01 'n' ba 06 02 08 01 c0 06 07 fd 06 00 00 00 00" + "d2 3e 00"),
			want: reply(abi.Reply{Resources: []abi.Resource{{URI: "a:b", Name: "n", Priority: math.NaN()}}})},
		"reply-ttl": {message: "Reply", about: "How long a result stays fresh, and for whom.", want: reply(abi.Reply{TTLMillis: 86_400_000, CacheScope: abi.CachePublic})},
	}
}

func readVectors() map[string]vector {
	const uri = "kit://x"
	return map[string]vector{
		"content-text":       {message: "Reply", about: "A text inline.", want: content(abi.Content{URI: uri, MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte("Grüße, 世界 🌍\n")})},
		"content-text-empty": {message: "Reply", about: "An empty text: field 3 is there, with length 0.", want: content(abi.Content{URI: uri, Kind: abi.KindText, Inline: []byte{}})},
		"content-text-body":  {message: "Reply", about: "The head of a text of unknown size whose bytes are pushed with body.", want: content(abi.Content{URI: uri, MIMEType: "text/csv", Kind: abi.KindText})},
		"content-blob":       {message: "Reply", about: "Bytes inline; nothing is base64 in this ABI.", want: content(abi.Content{URI: uri, MIMEType: "image/png", Kind: abi.KindBlob, Inline: []byte("\x89PNG\r\n\x1a\n\x00\xff")})},
		"content-blob-empty": {message: "Reply", about: "An empty blob.", want: content(abi.Content{URI: uri, Kind: abi.KindBlob, Inline: []byte{}})},
		"content-blob-body": {message: "Reply", about: "The head of a blob with all it can say, as a range of a larger one; 512 bytes follow through body.", want: content(abi.Content{
			URI: uri, MIMEType: "application/zip", Kind: abi.KindBlob, Size: 512, ETag: `"9f86"`, LastModified: "2026-11-20T10:00:00.5+01:00",
			Meta: `{"k":[1,null]}`, RangeTotal: 1 << 40})},
		"content-not-modified": {message: "Reply", about: "READ or POLL: the etag the host asked with is current; there is no body.", want: content(abi.Content{URI: uri, ETag: `"v1"`, NotModified: true})},
		"content-etag":         {message: "Reply", about: "POLL: the etag has changed; there is no body.", want: content(abi.Content{URI: uri, ETag: `"v2"`})},
		"content-several": {message: "Reply", about: "A directory read: several contents in one frame, with progress.", want: &emitted{
			Contents: []abi.Content{
				{URI: "kit://d/a", MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte("a")},
				{URI: "kit://d/b", Kind: abi.KindBlob, Inline: []byte{0}}},
			Progress: []abi.Progress{{Done: 1, Total: 2, Message: "half"}, {Done: 2}}}},
		"content-kind-and-text": {message: "Reply", about: "A kind beside inline bytes is superfluous but legal when it agrees; fields may stand in any order.",
			raw:  unhex("1a 0c 1a 02 'hi' 28 01 0a 04 'a:bc'"),
			want: content(abi.Content{URI: "a:bc", Kind: abi.KindText, Inline: []byte("hi")})},
		"progress-not-a-number": {message: "Reply", about: "A progress report that is no number from 0 on is dropped.",
			raw: unhex("7a 09 09 00 00 00 00 00 00 f8 7f"), want: reply(abi.Reply{})},
	}
}

func replyVectors() map[string]vector {
	return map[string]vector{
		"reply-complete": {message: "Reply", about: "Two of 120 completions, of which the last is empty.", want: reply(abi.Reply{
			Completions: []string{"users", ""}, CompletionTotal: 120, CompletionMore: true})},
		"reply-error": {message: "Reply", about: "A failure with everything a guest can say about it; the code is what the call returns.", want: reply(abi.Reply{
			Error: &abi.GuestError{Message: "the database is down", Data: `{"retry":true}`, RetryAfterMillis: 1500}})},
		"reply-error-repeated": {message: "Reply", about: "The last error counts, whole.",
			raw:  unhex("2a 05 0a 01 'a' 18 05  2a 03 0a 01 'b'"),
			want: reply(abi.Reply{Error: &abi.GuestError{Message: "b"}})},
		"reply-subscribe": {message: "Reply", about: "SUBSCRIBE: ask with POLL every five seconds.", want: reply(abi.Reply{PollMillis: 5000})},
		"reply-reserved": {message: "Reply", about: "Fields 12 and 13 are reserved and skipped.",
			raw: unhex("62 02 '{}' 6a 01 's' 70 01"), want: reply(abi.Reply{PollMillis: 1})},
	}
}

func fullManifest() *abi.Manifest {
	return &abi.Manifest{
		Name: "users", Version: "1.2.3", Title: "Users", Description: "The directory.",
		Templates: []abi.Template{{
			URITemplate: "users://{user_id}{?fields*}", Name: "user", Title: "One user", Description: "By number.",
			MIMEType: "text/plain", Priority: 1, Audience: abi.AudienceAssistant,
			Icons: []abi.Icon{{Source: "https://example.org/u.svg", Theme: "light"}}, Meta: `{}`,
			Completes: []string{"user_id", "fields"}, Ranges: true, TTLMillis: 5000, CacheScope: abi.CachePublic,
		}, {URITemplate: "logs://{day}", Name: "log", Priority: math.NaN()}},
		Resources: []abi.Resource{{URI: "config://app", Name: "app", Priority: math.NaN()}},
		Ops:       1<<abi.OpDescribe | 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Capabilities: []abi.Capability{
			{Name: "fs", Reason: "reads the project's files"},
			{Name: "http", Params: `{"hosts":["api.example.org"]}`, Optional: true}},
		Limits:      abi.ManifestLimits{MemoryPages: 256, DeadlineMillis: 500, MaxBody: 1 << 24, MaxInstances: 4, Lifecycle: abi.LifecycleSession},
		URIPrefixes: []string{"users://", "logs://"}, SDK: "go/1.0.0", ConfigSchema: `{"type":"object"}`,
	}
}

func describeVectors() map[string]vector {
	return map[string]vector{
		"manifest":         {message: "Manifest", about: "What stands in the custom section wasmres.manifest, with every field but abi_minor, which is 0.", want: fullManifest()},
		"manifest-minimal": {message: "Manifest", about: "The least a provider says of itself.", want: &abi.Manifest{Name: "p", Ops: 1 << abi.OpRead}},
		"reply-describe":   {message: "Reply", about: "DESCRIBE: the manifest as one field of a frame.", want: reply(abi.Reply{Manifest: fullManifest()})},
		"manifest-limits-repeated": {message: "Manifest", about: "The last limits count, whole.",
			raw:  unhex("12 01 'p' 52 02 08 10 52 02 10 05"),
			want: &abi.Manifest{Name: "p", Limits: abi.ManifestLimits{DeadlineMillis: 5}}},
	}
}

func serviceVectors() map[string]vector {
	return map[string]vector{
		"config-request":        {message: "ConfigRequest", about: "Service 1 is asked for one value.", want: &abi.ConfigRequest{Key: "api_url"}},
		"config-response":       {message: "ConfigResponse", about: "Service 1 answers.", want: &abi.ConfigResponse{Value: "https://example.org/"}},
		"config-response-empty": {message: "ConfigResponse", about: "Service 1 answers the empty text with no bytes.", want: &abi.ConfigResponse{}},
		"notify-request":        {message: "NotifyRequest", about: "Service 9: this resource has changed.", want: &abi.NotifyRequest{URI: "users://42"}},
		"file-request-read":     {message: "FileRequest", about: "Service 13: 64 KiB of a file from 1 MiB on.", want: &abi.FileRequest{Path: "/notes/todo.md", Offset: 1 << 20, Length: 64 << 10}},
		"file-request-write":    {message: "FileRequest", about: "Service 17: a line more of a file.", want: &abi.FileRequest{Path: "/notes/todo.md", Data: []byte("- tea\n"), Appends: true}},
		"file-request-list":     {message: "FileRequest", about: "Service 14: 100 entries of a folder after one already seen.", want: &abi.FileRequest{Path: "/notes", Length: 100, After: "m.txt"}},
		"file-response-stat": {message: "FileResponse", about: "Service 12 answers with one entry.", want: &abi.FileResponse{
			Files: []abi.File{{Name: "todo.md", Size: 1234, ModifiedMillis: 1_795_082_400_000}}}},
		"kv-request-get":    {message: "KVRequest", about: "Service 3: the value of a key.", want: &abi.KVRequest{Key: "notes/1"}},
		"kv-request-put":    {message: "KVRequest", about: "Service 4: a value for a minute, unless another writer was quicker.", want: &abi.KVRequest{Key: "notes/1", Value: []byte{0, 0xff}, TTLMillis: 60_000, IfVersion: 7}},
		"kv-request-absent": {message: "KVRequest", about: "Service 4: an empty value, where there is none yet.", want: &abi.KVRequest{Key: "k", IfAbsent: true}},
		"kv-request-list":   {message: "KVRequest", about: "Service 6: ten keys after one already seen.", want: &abi.KVRequest{Prefix: "notes/", After: "notes/1", Limit: 10}},
		"kv-response":       {message: "KVResponse", about: "Service 4 answers what is there, which is not what was expected.", want: &abi.KVResponse{Entries: []abi.KVEntry{{Key: "notes/1", Size: 2, ExpiresMillis: 1_795_082_400_000, Version: 8}}, Conflict: true}},
		"kv-response-list":  {message: "KVResponse", about: "Service 6 answers a page.", want: &abi.KVResponse{Entries: []abi.KVEntry{{Key: "a", Version: 1}, {Key: "b", Size: 1 << 20, Version: 2}}, More: true}},
		"http-request":      {message: "HTTPRequest", about: "Service 7: a GET with a secret the guest does not know.", want: &abi.HTTPRequest{URL: "https://api.example.org/v1/items?page=2", Header: []abi.HTTPField{{Name: "authorization", Value: "Bearer {{secret:token}}"}, {Name: "x-empty"}}}},
		"http-request-post": {message: "HTTPRequest", about: "Service 7: a POST with limits of its own.", want: &abi.HTTPRequest{Method: "POST", URL: "http://localhost:8080/", Body: []byte("{}"), MaxBytes: 1 << 20, TimeoutMillis: 500}},
		"http-response":     {message: "HTTPResponse", about: "Service 7 answers; the rest of the body is stream 3.", want: &abi.HTTPResponse{Status: 200, Header: []abi.HTTPField{{Name: "content-type", Value: "text/plain"}}, URL: "https://api.example.org/v1/items?page=2", Stream: 3}},
		"stream-request":    {message: "StreamRequest", about: "Service 15 or 16: what comes next of stream 3.", want: &abi.StreamRequest{Stream: 3}},
		"stream-response":   {message: "StreamResponse", about: "Service 15 answers: there is still more.", want: &abi.StreamResponse{More: true}},
		"sql-request": {message: "SQLRequest", about: "Service 8: a statement with an argument of each kind.", want: &abi.SQLRequest{Connection: "main", Query: "select ?", MaxRows: 100, Args: []abi.SQLValue{
			{}, {Kind: abi.SQLBool, Int: 1}, {Kind: abi.SQLInt, Int: -1}, {Kind: abi.SQLFloat, Float: 0.5}, {Kind: abi.SQLText, Text: "ü"}, {Kind: abi.SQLBytes, Bytes: []byte{0xff}}}}},
		"sql-response": {message: "SQLResponse", about: "Service 8 answers two rows of two columns, and there are more.", want: &abi.SQLResponse{
			Columns: []abi.SQLColumn{{Name: "id", Type: "int4"}, {Name: "name", Type: "text"}},
			Rows: []abi.SQLRow{
				{Values: []abi.SQLValue{{Kind: abi.SQLInt, Int: 1}, {Kind: abi.SQLText, Text: "Ada"}}},
				{Values: []abi.SQLValue{{Kind: abi.SQLInt, Int: 2}, {}}},
			}, Stream: 9}},
		"file-response-list": {message: "FileResponse", about: "Service 14 answers a page; times before 1970 are negative and take ten bytes.", want: &abi.FileResponse{
			Files: []abi.File{{Name: "archive", Dir: true, ModifiedMillis: -1}, {Name: "empty"}}, More: true}},
	}
}
