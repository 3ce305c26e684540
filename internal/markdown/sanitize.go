package markdown

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"strings"
)

// allowed are the elements that the renderer makes.
var allowed = map[string]bool{
	"p": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "ul": true, "ol": true, "li": true,
	"blockquote": true, "pre": true, "code": true, "em": true, "strong": true, "del": true, "hr": true, "br": true,
	"table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true, "a": true,
}

// schemes are those of links.
var schemes = []string{"http", "https", "mailto"}

// omitted is what the renderer writes in place of HTML.
const omitted = "<!-- raw HTML omitted -->"

// sanitize returns HTML that has no tags but those of allowed elements, each in the one form that the renderer writes, and of attributes
// the numbers of lists and links to pages and mail addresses. It drops other elements, and escapes what looks like a tag and is
// none. It does not depend on how a browser reads HTML that is malformed: none is left.
func sanitize(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text))
	var links []bool // that are open: whether each is shown
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 {
			out.Write(text)
			return out.Bytes()
		}
		out.Write(text[:at])
		text = text[at:]
		if rest, ok := bytes.CutPrefix(text, []byte(omitted)); ok {
			text = rest
			continue
		}
		t, n := parseTag(text)
		if n == 0 {
			out.WriteString("&lt;")
			text = text[1:]
			continue
		}
		text = text[n:]
		links = t.write(&out, links)
	}
}

// A tag is one that is written as the renderer writes them: <name a="b">, or </name>.
type tag struct {
	name       string
	isEnd      bool
	attributes map[string]string // as they are written, escaped; nil for none
}

// parseTag reads the tag at the beginning of HTML, and returns its length; zero for anything else.
func parseTag(text []byte) (t tag, n int) {
	rest := text[1:]
	if t.isEnd = bytes.HasPrefix(rest, []byte("/")); t.isEnd {
		rest = rest[1:]
	}
	t.name, rest = cutName(rest)
	for t.name != "" {
		if bytes.HasPrefix(rest, []byte(">")) {
			return t, len(text) - len(rest) + 1
		}
		name, value, after, ok := cutAttribute(rest)
		if !ok || t.isEnd {
			break
		}
		if t.attributes == nil {
			t.attributes = map[string]string{}
		}
		t.attributes[name], rest = value, after
	}
	return tag{}, 0
}

// cutName cuts a name of lower-case letters and digits off HTML; it is empty where there is none.
func cutName(text []byte) (name string, rest []byte) {
	n := 0
	for n < len(text) && ('a' <= text[n] && text[n] <= 'z' || '0' <= text[n] && text[n] <= '9') {
		n++
	}
	return string(text[:n]), text[n:]
}

// cutAttribute cuts an attribute in double quotes, and the space before it, off HTML.
func cutAttribute(text []byte) (name, value string, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(" "))
	name, text = cutName(text)
	text, isGiven := bytes.CutPrefix(text, []byte(`="`))
	inner, rest, isClosed := bytes.Cut(text, []byte(`"`))
	return name, string(inner), rest, ok && name != "" && isGiven && isClosed && !bytes.ContainsAny(inner, "<>")
}

// write writes the tag, if it is allowed, and returns the links that are open after it.
func (t *tag) write(out *bytes.Buffer, links []bool) []bool {
	switch {
	case !allowed[t.name]:
	case t.name == "a" && t.isEnd:
		if n := len(links) - 1; n >= 0 {
			if links[n] {
				out.WriteString("</a>")
			}
			return links[:n]
		}
	case t.name == "a":
		link, isShown := openLink(t.attributes["href"])
		out.WriteString(link)
		return append(links, isShown)
	case t.isEnd:
		out.WriteString("</" + t.name + ">")
	case t.name == "ol" && isNumber(t.attributes["start"]):
		out.WriteString(`<ol start="` + t.attributes["start"] + `">`)
	default:
		out.WriteString("<" + t.name + ">")
	}
	return links
}

func isNumber(text string) bool {
	return text != "" && len(text) < 10 && strings.Trim(text, "0123456789") == ""
}

// openLink returns the tag of a link by its attribute href. It is not ok for one that leads elsewhere than to a page, to a mail address or
// to a place of this server. A page elsewhere does not learn which page led to it.
func openLink(escaped string) (opening string, ok bool) {
	href := html.UnescapeString(escaped)
	if href == "" || strings.ContainsFunc(href, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return "", false
	}
	u, err := url.Parse(href)
	if err != nil || u.Scheme != "" && !slices.Contains(schemes, u.Scheme) {
		return "", false
	}
	opening = `<a href="` + html.EscapeString(u.String()) + `"`
	if u.Host != "" {
		opening += ` rel="noreferrer"`
	}
	return opening + ">", true
}
