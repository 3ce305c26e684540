package abi

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of single values.
const (
	maxName        = 256     // bytes of a name, version, title, MIME type, etag
	maxDescription = 4 << 10 // bytes of a description
	maxMessage     = 1 << 10 // bytes of a progress message
	maxCursor      = 4 << 10 // bytes
	maxJSONDepth   = 32
)

// Check reports the first rule of this ABI that the manifest breaks: its minor version, name, URIs, texts, templates or
// capabilities. The error wraps an [Error] and names the place.
func (m *Manifest) Check() error {
	if m.Minor > Minor {
		return Errorf(CodeIncompatible, "the provider needs ABI %d.%d, this host speaks %d.%d: use a newer wasmres", Major, m.Minor, Major, Minor)
	}
	if m.Name == "" {
		return Errorf(CodeProtocol, "manifest: the provider has no name")
	}
	for _, c := range []struct{ what, text string }{{"name", m.Name}, {"version", m.Version}, {"title", m.Title}, {"sdk", m.SDK}} {
		if err := checkPlain(c.what, c.text, maxName); err != nil {
			return fmt.Errorf("manifest: %w", err)
		}
	}
	if err := checkProse("description", m.Description); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if err := CheckJSONObject("config_schema_json", m.ConfigSchema); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if err := m.checkPrefixes(); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if err := m.checkCapabilities(); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return m.checkEntries()
}

func (m *Manifest) checkPrefixes() error {
	for i, p := range m.URIPrefixes {
		if _, err := (uriCheck{uri: p}).scheme(); err != nil {
			return Errorf(CodeInvalidURI, "uri_prefix %d: %v", i, err)
		}
		if err := checkLine("uri_prefix", p, MaxURI); err != nil {
			return err
		}
	}
	return nil
}

// checkCapabilities checks what a person reads in a terminal before approving it: names are unique, texts are short and
// plain.
func (m *Manifest) checkCapabilities() error {
	seen := map[string]bool{}
	for i, c := range m.Capabilities {
		if c.Name == "" || seen[c.Name] {
			return Errorf(CodeProtocol, "capability %d: the name %.40q is missing or a repetition", i, c.Name)
		}
		seen[c.Name] = true
		if err := checkPlain("name", c.Name, maxName); err != nil {
			return fmt.Errorf("capability %d: %w", i, err)
		}
		if err := checkPlain("reason", c.Reason, maxMessage); err != nil {
			return fmt.Errorf("capability %d: %w", i, err)
		}
		if err := CheckJSONObject("params_json", c.Params); err != nil {
			return fmt.Errorf("capability %d: %w", i, err)
		}
	}
	return nil
}

func (m *Manifest) checkEntries() error {
	for i := range m.Resources {
		if err := m.Resources[i].Check(); err != nil {
			return fmt.Errorf("manifest: resource %d: %w", i, err)
		}
	}
	for i := range m.Templates {
		if err := m.Templates[i].Check(); err != nil {
			return fmt.Errorf("manifest: template %d: %w", i, err)
		}
	}
	return nil
}

// Check reports the first rule of this ABI that the resource breaks.
func (r *Resource) Check() error {
	if err := CheckURI(r.URI); err != nil {
		return Errorf(CodeInvalidURI, "%v", err)
	}
	if err := checkTime("last_modified", r.LastModified); err != nil {
		return err
	}
	return checkCommon(r.Name, r.Title, r.Description, r.MIMEType, r.Meta, r.Priority, r.Icons)
}

// Check reports the first rule of this ABI that the template breaks. It does not parse the URI template itself.
func (t *Template) Check() error {
	if t.URITemplate == "" {
		return Errorf(CodeProtocol, "the uri_template is missing")
	}
	if err := checkLine("uri_template", t.URITemplate, MaxURI); err != nil {
		return err
	}
	for _, name := range t.Completes {
		if err := checkLine("completes", name, maxName); err != nil {
			return err
		}
	}
	return checkCommon(t.Name, t.Title, t.Description, t.MIMEType, t.Meta, t.Priority, t.Icons)
}

// Check reports the first rule of this ABI that the head of a content breaks.
func (c *Content) Check() error {
	if err := CheckURI(c.URI); err != nil {
		return Errorf(CodeInvalidURI, "%v", err)
	}
	if err := checkLine("mime_type", c.MIMEType, maxName); err != nil {
		return err
	}
	if err := checkLine("etag", c.ETag, maxName); err != nil {
		return err
	}
	if err := checkTime("last_modified", c.LastModified); err != nil {
		return err
	}
	if c.NotModified && c.Kind != KindNone {
		return Errorf(CodeProtocol, "a content that is not modified has no body")
	}
	return CheckJSONObject("meta_json", c.Meta)
}

// Check reports whether the numbers are ones that JSON can carry and the message is one line.
func (p *Progress) Check() error {
	for _, v := range []float64{p.Done, p.Total} {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return Errorf(CodeProtocol, "progress %v is not a number from 0 on", v)
		}
	}
	return checkLine("progress message", p.Message, maxMessage)
}

func checkCommon(name, title, description, mimeType, meta string, priority float64, icons []Icon) error {
	if name == "" {
		return Errorf(CodeProtocol, "the name is missing")
	}
	for _, c := range []struct{ what, text string }{{"name", name}, {"title", title}, {"mime_type", mimeType}} {
		if err := checkLine(c.what, c.text, maxName); err != nil {
			return err
		}
	}
	if err := checkProse("description", description); err != nil {
		return err
	}
	if !math.IsNaN(priority) && (priority < 0 || priority > 1) {
		return Errorf(CodeProtocol, "priority %v is not within 0..1", priority)
	}
	for i := range icons {
		if err := icons[i].check(); err != nil {
			return err
		}
	}
	return CheckJSONObject("meta_json", meta)
}

func (i *Icon) check() error {
	switch {
	case strings.HasPrefix(i.Source, "https://"):
		if err := CheckURI(i.Source); err != nil {
			return Errorf(CodeInvalidURI, "icon source: %v", err)
		}
	case !strings.HasPrefix(i.Source, "data:image/"):
		return Errorf(CodeProtocol, "icon source %.40q is neither https: nor data:image/", i.Source)
	}
	if i.Theme != "" && i.Theme != "light" && i.Theme != "dark" {
		return Errorf(CodeProtocol, "icon theme %.40q is neither light nor dark", i.Theme)
	}
	if err := checkLine("icon source", i.Source, MaxMeta); err != nil {
		return err
	}
	for _, s := range i.Sizes {
		if err := checkLine("icon size", s, maxName); err != nil {
			return err
		}
	}
	return checkLine("icon mime_type", i.MIMEType, maxName)
}

// checkTime accepts an RFC 3339 time or the empty string.
func checkTime(what, s string) error {
	if s == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil || len(s) > maxName {
		return Errorf(CodeProtocol, "%s %.40q is not an RFC 3339 time", what, s)
	}
	return nil
}

// checkPlain is checkLine for text on which a person bases a decision: it refuses invisible characters and those that
// change the direction of writing.
func checkPlain(what, s string, limit int) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }); i >= 0 {
		return Errorf(CodeProtocol, "%s has an invisible character at byte %d", what, i)
	}
	return checkLine(what, s, limit)
}

// checkLine accepts one line of bounded text without control characters.
func checkLine(what, s string, limit int) error {
	if len(s) > limit {
		return tooLong(what, len(s), limit)
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return Errorf(CodeProtocol, "%s has a control character at byte %d", what, i)
	}
	return nil
}

// checkProse accepts bounded text of several lines.
func checkProse(what, s string) error {
	if len(s) > maxDescription {
		return tooLong(what, len(s), maxDescription)
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return Errorf(CodeProtocol, "%s has a control character at byte %d", what, i)
	}
	return nil
}

// CheckJSONObject accepts the empty string or one JSON object of at most [MaxMeta] bytes, UTF-8, nested at most 32
// deep. what names the text in the error.
func CheckJSONObject(what, s string) error {
	switch {
	case s == "":
		return nil
	case len(s) > MaxMeta:
		return tooLong(what, len(s), MaxMeta)
	case !utf8.ValidString(s) || !strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") || !json.Valid([]byte(s)):
		return Errorf(CodeProtocol, "%s is not a JSON object", what)
	case jsonDepth(s) > maxJSONDepth:
		return Errorf(CodeProtocol, "%s is nested deeper than %d", what, maxJSONDepth)
	}
	return nil
}

// jsonDepth returns the nesting of a valid JSON text.
func jsonDepth(s string) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
