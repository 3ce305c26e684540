package download

import (
	"net/http"
	"strings"
	"time"
)

// A validator names a version of a resource (RFC 9110, section 8.8).
type validator struct {
	tag      string    // as in the header ETag; empty for none
	modified time.Time // to the second; zero when unknown
}

// newValidator makes a validator of an etag and an RFC 3339 time of a provider. An etag that no header can carry is
// ignored, and so is a malformed time.
func newValidator(etag, lastModified string) validator {
	v := validator{tag: entityTag(etag)}
	if t, err := time.Parse(time.RFC3339, lastModified); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
		v.modified = t.UTC().Truncate(time.Second)
	}
	return v
}

// set sets the headers of a response.
func (v validator) set(header http.Header) {
	if v.tag != "" {
		header.Set("ETag", v.tag)
	}
	if !v.modified.IsZero() {
		header.Set("Last-Modified", v.modified.Format(http.TimeFormat))
	}
}

// entityTag makes an entity tag of an etag as providers write them, with quotes or without.
func entityTag(etag string) string {
	if tag, rest := cutTag(etag); tag != "" && rest == "" {
		return tag
	}
	if tag, rest := cutTag(`"` + etag + `"`); etag != "" && rest == "" {
		return tag
	}
	return ""
}

// opaqueTag returns the text between the quotes of an entity tag, as a provider may have written it.
func opaqueTag(tag string) string {
	return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
}

// cutTag cuts an entity tag off a list, and gives empty strings when there is none. Unlike the specification it accepts
// only ASCII.
func cutTag(list string) (tag, rest string) {
	text, _ := strings.CutPrefix(list, "W/")
	if !strings.HasPrefix(text, `"`) {
		return "", ""
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i += len(list) - len(text) + 1
			return list[:i], list[i:]
		case c < '!' || c > '~':
			return "", ""
		}
	}
	return "", ""
}

// lists reports whether a header of entity tags names tag, by strong or by weak comparison. A list ends where it is
// malformed.
func lists(header, tag string, weak bool) bool {
	for {
		header = strings.TrimLeft(header, " \t,")
		if strings.HasPrefix(header, "*") {
			return true
		}
		listed, rest := cutTag(header)
		switch {
		case listed == "":
			return false
		case tag == "":
		case weak && strings.TrimPrefix(listed, "W/") == strings.TrimPrefix(tag, "W/"):
			return true
		case listed == tag && !strings.HasPrefix(tag, "W/"):
			return true
		}
		header = rest
	}
}

// onlyTag returns the entity tag of If-None-Match, if there is exactly one, and no condition that precedes it.
func onlyTag(r *http.Request) string {
	tag, rest := cutTag(strings.Trim(joined(r, "If-None-Match"), " \t"))
	if rest != "" || r.Header.Get("If-Match") != "" || r.Header.Get("If-Unmodified-Since") != "" {
		return ""
	}
	return tag
}

// joined returns all values of a header that is a list.
func joined(r *http.Request, name string) string { return strings.Join(r.Header.Values(name), ",") }

// precondition returns the status that ends a GET or HEAD of the version v, or 0 when its conditions are met (RFC 9110,
// section 13.2.2).
func (v validator) precondition(r *http.Request) int {
	if match := joined(r, "If-Match"); match != "" {
		if !lists(match, v.tag, false) {
			return http.StatusPreconditionFailed
		}
	} else if t, ok := v.since(r, "If-Unmodified-Since"); ok && v.modified.After(t) {
		return http.StatusPreconditionFailed
	}
	if none := joined(r, "If-None-Match"); none != "" {
		if lists(none, v.tag, true) {
			return http.StatusNotModified
		}
	} else if t, ok := v.since(r, "If-Modified-Since"); ok && !v.modified.After(t) {
		return http.StatusNotModified
	}
	return 0
}

// since reads a header that is a time; ok is false when it is malformed, or the time of v is unknown.
func (v validator) since(r *http.Request, name string) (t time.Time, ok bool) {
	value := r.Header.Get(name)
	if value == "" || v.modified.IsZero() {
		return t, false
	}
	t, err := http.ParseTime(value)
	return t, err == nil
}

// ifRange reports whether If-Range permits to answer with a range: when the header is absent, or names this version.
func (v validator) ifRange(r *http.Request) bool {
	value := strings.Trim(r.Header.Get("If-Range"), " \t")
	if value == "" {
		return true
	}
	if tag, _ := cutTag(value); tag != "" {
		return tag == v.tag && !strings.HasPrefix(tag, "W/")
	}
	t, ok := v.since(r, "If-Range")
	return ok && t.Equal(v.modified)
}
