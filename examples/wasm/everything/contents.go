package main

import (
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

func registerContents() {
	wasmres.Resource("test://static-text", text("This is the content of the static text resource.")).
		Name("static-text").Title("Static text").Describe("A text that never changes.").MIME("text/plain").
		Size(48).Audience(wasmres.User | wasmres.Assistant).Priority(0.9).
		LastModified(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)).
		Icon(wasmres.Icon{Source: "data:image/png;base64," + pictureBase64, MIME: "image/png", Sizes: []string{"2x2"}}).
		TTL(time.Minute).Public()

	wasmres.Resource("test://static-binary", func(*wasmres.Request) ([]byte, error) { return []byte(picture), nil }).
		Name("static-binary").Describe("A picture of two by two pixels.").MIME("image/png").Size(int64(len(picture)))

	wasmres.Template("test://template/{id}/data", data).
		Name("template-data").Describe("JSON about an id.").MIME("application/json").
		Complete("id", ids)

	wasmres.Resource("test://empty", text("")).Name("empty").Describe("A text without a character.").MIME("text/plain")

	wasmres.Resource("test://ünïcode/日本語", text("日本語の本文: ünïcode in URI and text 🙂\n")).
		Name("unicode").Describe("A URI that is not ASCII.").MIME("text/plain")

	wasmres.Resource("test://multi", multi).Name("multi").Describe("A text and a blob, each with a URI of its own.")
	wasmres.ReadAny(part)

	wasmres.Template("test://config/{key}", config).
		Name("config").Describe("A configuration value.").MIME("text/plain")
}

func text(s string) func(*wasmres.Request) (string, error) {
	return func(*wasmres.Request) (string, error) { return s, nil }
}

func data(r *wasmres.Request) (string, error) {
	id := r.Var("id")
	return `{"id":` + quote(id) + `,"templateTest":true,"data":` + quote("Data for ID: "+id) + `}`, nil
}

func ids(_ *wasmres.Request, prefix string) ([]string, error) {
	var found []string
	for n := range 1000 {
		if id := strconv.Itoa(n); strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	return found, nil
}

// parts are what test://multi consists of. Their URIs are in no list and match no template.
var parts = []wasmres.Content{
	wasmres.Text("The first of two contents.\n").URI("test://multi/text").MIME("text/plain"),
	wasmres.Bytes([]byte(picture)).URI("test://multi/blob").MIME("image/png"),
}

func multi(*wasmres.Request) ([]wasmres.Content, error) { return parts, nil }

func part(r *wasmres.Request) (wasmres.Content, error) {
	switch r.URI {
	case "test://multi/text":
		return parts[0], nil
	case "test://multi/blob":
		return parts[1], nil
	}
	return wasmres.Content{}, wasmres.NotFound("there is no " + r.URI)
}

func config(r *wasmres.Request) (string, error) {
	value, ok := r.Config(r.Var("key"))
	if !ok {
		return "", wasmres.NotFound("nothing is configured as " + r.Var("key"))
	}
	return value, nil
}

// quote gives s as a JSON string. Templates carry no control characters but those that were percent-encoded, which the
// host refuses; a test's may.
func quote(s string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// picture is a PNG of four pixels, violet and white.
const picture = "" +
	"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00\x00\x02" +
	"\x08\x02\x00\x00\x00\xfd\xd4\x9a\x73\x00\x00\x00\x13\x49\x44\x41\x54\x78\xda\x63\x48\xf5\xff\xf0" +
	"\xff\xff\x7f\x06\x20\x06\xb2\x00\x3f\xc6\x09\x43\x66\xf3\xf0\xc4\x00\x00\x00\x00\x49\x45\x4e\x44" +
	"\xae\x42\x60\x82"

// pictureBase64 is the same for an icon.
const pictureBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR42mNI9f/w//9/BiAGsgA/xglDZvPwxAAAAABJRU5ErkJggg=="
