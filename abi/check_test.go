package abi_test

import (
	"math"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// A rule is one change to something valid, and the code it must be refused with; CodeOK where it is still valid.
type rule[T any] struct {
	change func(*T)
	want   abi.Code
}

func checkRules[T any](t *testing.T, valid func() *T, check func(*T) error, rules map[string]rule[T]) {
	t.Helper()
	if err := check(valid()); err != nil {
		t.Fatalf("what the rules start from is refused: %v", err)
	}
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			v := valid()
			r.change(v)
			err := check(v)
			if got := abi.CodeOf(err); got != r.want {
				t.Errorf("got %v (%v), want %v", got, err, r.want)
			}
			if err != nil && len(err.Error()) > 512 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

const bad, fine = abi.CodeProtocol, abi.CodeOK

func TestManifestCheck(t *testing.T) {
	type r = rule[abi.Manifest]
	checkRules(t, fullManifest, (*abi.Manifest).Check, map[string]r{
		"newer minor":              {func(m *abi.Manifest) { m.Minor = abi.Minor + 1 }, abi.CodeIncompatible},
		"no name":                  {func(m *abi.Manifest) { m.Name = "" }, bad},
		"name of two lines":        {func(m *abi.Manifest) { m.Name = "a\nb" }, bad},
		"name that turns around":   {func(m *abi.Manifest) { m.Name = "\u202eexe.sj" }, bad},
		"long version":             {func(m *abi.Manifest) { m.Version = strings.Repeat("1", 257) }, bad},
		"title with escape":        {func(m *abi.Manifest) { m.Title = "\x1b[31m" }, bad},
		"sdk with C1 control":      {func(m *abi.Manifest) { m.SDK = "go\u009b" }, bad},
		"description of two lines": {func(m *abi.Manifest) { m.Description = "a\n\tb" }, fine},
		"description with bell":    {func(m *abi.Manifest) { m.Description = "\a" }, bad},
		"long description":         {func(m *abi.Manifest) { m.Description = strings.Repeat("d", 4097) }, bad},
		"schema array":             {func(m *abi.Manifest) { m.ConfigSchema = "[]" }, bad},
		"empty prefix":             {func(m *abi.Manifest) { m.URIPrefixes = []string{""} }, abi.CodeInvalidURI},
		"prefix within a scheme":   {func(m *abi.Manifest) { m.URIPrefixes = []string{"use"} }, abi.CodeInvalidURI},
		"prefix of a scheme":       {func(m *abi.Manifest) { m.URIPrefixes = []string{"users:"} }, fine},
		"prefix with newline":      {func(m *abi.Manifest) { m.URIPrefixes = []string{"users:\n"} }, bad},
		"capability without name":  {func(m *abi.Manifest) { m.Capabilities[0].Name = "" }, bad},
		"capability twice":         {func(m *abi.Manifest) { m.Capabilities[1].Name = "fs" }, bad},
		"reason with zero width":   {func(m *abi.Manifest) { m.Capabilities[0].Reason = "a\u200bb" }, bad},
		"reason of two lines":      {func(m *abi.Manifest) { m.Capabilities[0].Reason = "a\nb" }, bad},
		"params that are no JSON":  {func(m *abi.Manifest) { m.Capabilities[1].Params = "{" }, bad},
		"static resource":          {func(m *abi.Manifest) { m.Resources[0].URI = "x" }, abi.CodeInvalidURI},
		"template":                 {func(m *abi.Manifest) { m.Templates[1].Name = "" }, bad},
	})
}

func TestResourceCheck(t *testing.T) {
	type r = rule[abi.Resource]
	valid := func() *abi.Resource {
		return &abi.Resource{
			URI: "file:///a", Name: "a", Title: "A", Priority: 0.5, LastModified: "2026-11-20T10:00:00Z",
			Icons: []abi.Icon{{Source: "https://example.org/a.png", Sizes: []string{"any"}}}, Meta: `{"a":1}`,
		}
	}
	checkRules(t, valid, (*abi.Resource).Check, map[string]r{
		"traversal":             {func(r *abi.Resource) { r.URI = "file:///a/%2e%2e/b" }, abi.CodeInvalidURI},
		"no uri":                {func(r *abi.Resource) { r.URI = "" }, abi.CodeInvalidURI},
		"no name":               {func(r *abi.Resource) { r.Name = "" }, bad},
		"name in Arabic":        {func(r *abi.Resource) { r.Name = "ملف\u200f" }, fine},
		"mime with newline":     {func(r *abi.Resource) { r.MIMEType = "text/plain\r\nX: y" }, bad},
		"no priority":           {func(r *abi.Resource) { r.Priority = math.NaN() }, fine},
		"priority 1":            {func(r *abi.Resource) { r.Priority = 1 }, fine},
		"priority above":        {func(r *abi.Resource) { r.Priority = math.Nextafter(1, 2) }, bad},
		"priority below":        {func(r *abi.Resource) { r.Priority = -0.1 }, bad},
		"priority infinite":     {func(r *abi.Resource) { r.Priority = math.Inf(1) }, bad},
		"date only":             {func(r *abi.Resource) { r.LastModified = "2026-11-20" }, bad},
		"time of 300 digits":    {func(r *abi.Resource) { r.LastModified = "2026-11-20T10:00:00." + strings.Repeat("0", 300) + "Z" }, bad},
		"icon by script":        {func(r *abi.Resource) { r.Icons[0].Source = "javascript:alert(1)" }, bad},
		"icon in the clear":     {func(r *abi.Resource) { r.Icons[0].Source = "http://example.org/a.png" }, bad},
		"icon with blank":       {func(r *abi.Resource) { r.Icons[0].Source = "https://example.org/a b" }, abi.CodeInvalidURI},
		"icon as data":          {func(r *abi.Resource) { r.Icons[0].Source = "data:image/png;base64," + strings.Repeat("A", 8000) }, fine},
		"icon of too much data": {func(r *abi.Resource) { r.Icons[0].Source = "data:image/png;base64," + strings.Repeat("A", 17_000) }, bad},
		"icon theme":            {func(r *abi.Resource) { r.Icons[0].Theme = "sepia" }, bad},
		"icon size":             {func(r *abi.Resource) { r.Icons[0].Sizes[0] = "a\x00" }, bad},
		"icon mime":             {func(r *abi.Resource) { r.Icons[0].MIMEType = "\n" }, bad},
		"meta text":             {func(r *abi.Resource) { r.Meta = `"a"` }, bad},
	})
}

func TestTemplateCheck(t *testing.T) {
	type r = rule[abi.Template]
	valid := func() *abi.Template {
		return &abi.Template{URITemplate: "a://{b}", Name: "b", Completes: []string{"b"}}
	}
	checkRules(t, valid, (*abi.Template).Check, map[string]r{
		"no template":    {func(t *abi.Template) { t.URITemplate = "" }, bad},
		"long template":  {func(t *abi.Template) { t.URITemplate = strings.Repeat("a", abi.MaxURI+1) }, bad},
		"no name":        {func(t *abi.Template) { t.Name = "" }, bad},
		"completes line": {func(t *abi.Template) { t.Completes[0] = "\n" }, bad},
		"meta":           {func(t *abi.Template) { t.Meta = "{]" }, bad},
	})
}

func TestContentCheck(t *testing.T) {
	type r = rule[abi.Content]
	valid := func() *abi.Content {
		return &abi.Content{URI: "a://b", MIMEType: "text/plain", Kind: abi.KindText, ETag: `"1"`, LastModified: "2026-11-20T10:00:00.5-07:00"}
	}
	checkRules(t, valid, (*abi.Content).Check, map[string]r{
		"uri":                    {func(c *abi.Content) { c.URI = "a://b c" }, abi.CodeInvalidURI},
		"mime":                   {func(c *abi.Content) { c.MIMEType = "a\nb" }, bad},
		"etag":                   {func(c *abi.Content) { c.ETag = strings.Repeat("e", 257) }, bad},
		"time":                   {func(c *abi.Content) { c.LastModified = "yesterday" }, bad},
		"meta":                   {func(c *abi.Content) { c.Meta = "1" }, bad},
		"not modified with body": {func(c *abi.Content) { c.NotModified = true }, bad},
		"not modified":           {func(c *abi.Content) { c.NotModified, c.Kind = true, abi.KindNone }, fine},
	})
}

func TestProgressCheck(t *testing.T) {
	type r = rule[abi.Progress]
	valid := func() *abi.Progress { return &abi.Progress{Done: 1, Total: 2, Message: "half"} }
	checkRules(t, valid, (*abi.Progress).Check, map[string]r{
		"nan":      {func(p *abi.Progress) { p.Done = math.NaN() }, bad},
		"infinite": {func(p *abi.Progress) { p.Total = math.Inf(1) }, bad},
		"negative": {func(p *abi.Progress) { p.Done = -1 }, bad},
		"no total": {func(p *abi.Progress) { p.Total = 0 }, fine},
		"lines":    {func(p *abi.Progress) { p.Message = "a\nb" }, bad},
	})
}

func TestCheckJSONObject(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"nothing":         {"", true},
		"empty":           {"{}", true},
		"blanks around":   {" \t\r\n{ }\n", true},
		"array":           {"[{}]", false},
		"text":            {`"{"`, false},
		"null":            {"null", false},
		"two":             {"{}{}", false},
		"cut":             {`{"a":`, false},
		"trailing comma":  {`{"a":1,}`, false},
		"not UTF-8":       {"{\"a\":\"\xff\"}", false},
		"byte order mark": {"\ufeff{}", false},
		"32 deep":         {strings.Repeat(`{"a":`, 31) + "{}" + strings.Repeat("}", 31), true},
		"33 deep":         {strings.Repeat(`{"a":`, 32) + "{}" + strings.Repeat("}", 32), false},
		"33 lists deep":   {`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + "}", false},
		"braces in text":  {`{"a":"` + strings.Repeat("{", 100) + `\"{"}`, true},
		"at the limit":    {`{"a":"` + strings.Repeat("x", abi.MaxMeta-8) + `"}`, true},
		"over the limit":  {`{"a":"` + strings.Repeat("x", abi.MaxMeta-7) + `"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := abi.CheckJSONObject("meta_json", c.text)
			if (err == nil) != c.ok || err != nil && abi.CodeOf(err) != abi.CodeProtocol {
				t.Errorf("got %v, want ok %v", err, c.ok)
			}
		})
	}
}
