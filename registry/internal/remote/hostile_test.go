package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/wasmres/wasmres/registry/internal/oci"
	"github.com/wasmres/wasmres/registry/internal/registrytest"
	"github.com/wasmres/wasmres/registry/internal/remote"
	"github.com/wasmres/wasmres/registry/internal/transfer"
)

// A hostile registry has one provider, n:1.0, and answers as its hooks say.
type hostile struct {
	host      string
	memory    registrytest.Memory
	provider  oci.Packed
	module    []byte
	authorize func(user, password string) bool                         // nil for anonymous access
	handle    func(w http.ResponseWriter, r *http.Request) (done bool) // nil for none
	requests  atomic.Int64
}

func startHostile(t testing.TB, set func(*hostile)) *hostile {
	t.Helper()
	h := &hostile{module: module(200_000)}
	h.provider = h.memory.Add(t, h.module, "1.0")
	set(h)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	h.host = s.Listener.Addr().String()
	return h
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.requests.Add(1)
	if h.authorize != nil {
		user, password, _ := r.BasicAuth()
		if user == "" || !h.authorize(user, password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	if h.handle != nil && h.handle(w, r) {
		return
	}
	kind, name := lastTwo(r.URL.Path)
	switch kind {
	case "manifests":
		d, err := h.memory.Resolve(r.Context(), name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", d.MediaType)
		w.Header().Set("Docker-Content-Digest", string(d.Digest))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.memory.Bytes(d.Digest)))
	case "blobs":
		b := h.memory.Bytes(oci.Digest(name))
		if b == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	default:
		http.NotFound(w, r)
	}
}

func lastTwo(path string) (kind, name string) {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return "", ""
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}

func isBlob(r *http.Request, d oci.Descriptor) bool {
	kind, name := lastTwo(r.URL.Path)
	return kind == "blobs" && name == string(d.Digest)
}

func isTag(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/manifests/1.0") }

// quick repeats without waiting; impatient waits for no registry.
var (
	quick     = remote.Options{Backoff: time.Millisecond}
	impatient = remote.Options{Backoff: time.Millisecond, Idle: 100 * time.Millisecond}
)

// pull pulls n:1.0 with its signatures, and returns what is there afterwards.
func (h *hostile) pull(t testing.TB, o remote.Options) (*registrytest.Memory, error) {
	t.Helper()
	var to registrytest.Memory
	_, err := transfer.Copy(t.Context(), repository(t, newClient(t, o), h.host+"/n"), "1.0", &to, "1.0", transfer.Options{Signatures: true})
	return &to, err
}

func TestHostileRegistries(t *testing.T) {
	t.Parallel()
	const metadata = "http://169.254.169.254/latest/meta-data"
	type handler = func(h *hostile, w http.ResponseWriter, r *http.Request) bool
	redirect := func(to string) handler {
		return func(h *hostile, w http.ResponseWriter, r *http.Request) bool {
			if !isBlob(r, h.provider.Module) {
				return false
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}
	}
	challenge := func(header string) handler {
		return func(_ *hostile, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("WWW-Authenticate", header)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	}
	answer := func(is func(*hostile, *http.Request) bool, header map[string]string, body func(w io.Writer)) handler {
		return func(h *hostile, w http.ResponseWriter, r *http.Request) bool {
			if !is(h, r) {
				return false
			}
			for k, v := range header {
				w.Header().Set(k, v)
			}
			body(w)
			return true
		}
	}
	aModule := func(h *hostile, r *http.Request) bool { return isBlob(r, h.provider.Module) }
	referrers := func(_ *hostile, r *http.Request) bool { return strings.Contains(r.URL.Path, "/referrers/") }
	tag := func(_ *hostile, r *http.Request) bool { return isTag(r) }
	digest := func(_ *hostile, r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/sha256:") }
	index := map[string]string{"Content-Type": oci.IndexType}
	endless := func(w io.Writer) {
		for {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
				return
			}
		}
	}
	nothing := func(io.Writer) {}

	for name, test := range map[string]struct {
		handle handler
		want   string
	}{
		"redirect to a file":               {redirect("file:///etc/passwd"), "only https is followed"},
		"redirect to metadata":             {redirect(metadata), "only https is followed"},
		"redirect to metadata by https":    {redirect("https://169.254.169.254/latest"), "link-local"},
		"redirect to metadata by IPv6":     {redirect("https://[::ffff:169.254.169.254]/latest"), "link-local"},
		"redirect to another loopback":     {redirect("https://127.0.0.2/x"), "loopback"},
		"redirect to a name of loopback":   {redirect("https://localhost:1/x"), "loopback"},
		"redirect to a private address":    {redirect("https://10.1.2.3/x"), "private"},
		"redirect to a number":             {redirect("https://2852039166/x"), "no name"},
		"redirect for ever":                {redirect("/v2/n/blobs/again"), "the registry"},
		"token server at metadata":         {challenge(`Bearer realm="` + metadata + `",service="x"`), "link-local"},
		"token server by https at it":      {challenge(`Bearer realm="https://169.254.169.254/t"`), "link-local"},
		"token server at a name of it":     {challenge(`Bearer realm="https://localhost:1/t"`), "loopback"},
		"token server of a file":           {challenge(`Bearer realm="file:///etc/passwd"`), "unsupported scheme"},
		"gzip that was not asked for":      {answer(aModule, map[string]string{"Content-Encoding": "gzip"}, nothing), "content coding"},
		"a module that is shorter":         {answer(aModule, map[string]string{"Content-Length": "10"}, func(w io.Writer) { _, _ = w.Write(make([]byte, 10)) }), "10 bytes"},
		"a module that is longer":          {answer(aModule, map[string]string{"Content-Length": "900000"}, endless), "900000 bytes"},
		"a module without an end":          {answer(aModule, nil, endless), "the bytes have the digest"},
		"a part that was not asked for":    {answer(aModule, map[string]string{"Content-Range": "bytes 0-9/200000"}, func(w io.Writer) { w.(http.ResponseWriter).WriteHeader(206) }), "range"},
		"a manifest of 10 GB":              {answer(tag, map[string]string{"Content-Type": oci.ManifestType, "Docker-Content-Digest": string(oci.DigestOf(nil)), "Content-Length": "10000000000"}, nothing), "10000000000 bytes"},
		"a manifest with another digest":   {answer(tag, map[string]string{"Content-Type": oci.ManifestType, "Docker-Content-Digest": "sha512:" + strings.Repeat("0", 128), "Content-Length": "10"}, nothing), "digest"},
		"a manifest that is a page":        {answer(tag, map[string]string{"Content-Type": "text/html", "Docker-Content-Digest": string(oci.DigestOf(nil)), "Content-Length": "10"}, nothing), "text/html"},
		"a tag without a digest":           {answer(tag, map[string]string{"Content-Type": oci.ManifestType, "Content-Length": "10"}, nothing), "use another registry"},
		"a tag without a size":             {answer(tag, map[string]string{"Content-Type": oci.ManifestType, "Transfer-Encoding": "chunked"}, nothing), "use another registry"},
		"a manifest without an end":        {answer(digest, map[string]string{"Content-Type": oci.ManifestType}, endless), "more bytes"},
		"endless referrers":                {answer(referrers, index, endless), "more than 4194304 bytes"},
		"too many referrers":               {answer(referrers, index, manyReferrers), "more than 64 manifests"},
		"endless pages of referrers":       {answer(referrers, with(index, "Link", `<?page=again>; rel="next"`), func(w io.Writer) { _, _ = io.WriteString(w, `{"manifests":[]}`) }), "exceeded 4 pages"},
		"pages of referrers elsewhere":     {answer(referrers, with(index, "Link", `<https://169.254.169.254/>; rel="next"`), func(w io.Writer) { _, _ = io.WriteString(w, `{"manifests":[]}`) }), "same origin"},
		"headers that never come":          {func(h *hostile, _ http.ResponseWriter, r *http.Request) bool { return hang(isTag(r), r) }, "sent nothing for 100ms"},
		"a body that stops":                {stopHalfWay, "sent nothing for 100ms"},
		"a message with a terminal's code": {forbid("\x1b[2J\u202etxt"), `\x1b[2J\u202etxt`},
		"a long message":                   {forbid(strings.Repeat("x", 5000)), "…"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool { return test.handle(h, w, r) }
			})
			o := quick
			if strings.Contains(test.want, "sent nothing") {
				o = impatient
			}
			to, err := h.pull(t, o)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v; want %s", err, test.want)
			}
			if text := err.Error(); !strings.Contains(text, h.host+"/n") && !strings.Contains(text, "sha256:") || len(text) > 700 || strings.ContainsAny(text, "\x1b\n\u202e") {
				t.Errorf("the error does not name the repository, or is not one short line: %q", text)
			}
			if tags, _ := to.Tags(t.Context()); len(tags) != 0 || to.Bytes(h.provider.Module.Digest) != nil {
				t.Errorf("something was left behind: %v", tags)
			}
		})
	}
}

func with(header map[string]string, key, value string) map[string]string {
	all := map[string]string{key: value}
	for k, v := range header {
		all[k] = v
	}
	return all
}

func manyReferrers(w io.Writer) {
	fmt.Fprint(w, `{"manifests":[`)
	for i := range 100 {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"mediaType":%q,"size":10,"digest":%q}`, oci.ManifestType, oci.DigestOf(fmt.Append(nil, i)))
	}
	fmt.Fprint(w, "]}")
}

// hang waits until the client has gone.
func hang(really bool, r *http.Request) bool {
	if really {
		<-r.Context().Done()
	}
	return really
}

func stopHalfWay(h *hostile, w http.ResponseWriter, r *http.Request) bool {
	if !isBlob(r, h.provider.Module) {
		return false
	}
	if r.Header.Get("Range") == "" {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.module)))
		_, _ = w.Write(h.module[:1000])
		_ = http.NewResponseController(w).Flush()
	}
	return hang(true, r)
}

func forbid(message string) func(h *hostile, w http.ResponseWriter, r *http.Request) bool {
	return func(h *hostile, w http.ResponseWriter, r *http.Request) bool {
		if !isBlob(r, h.provider.Module) {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]string{"code": "DENIED", "message": message}}})
		return true
	}
}

func TestAnswersThatMeanNoReferrers(t *testing.T) {
	t.Parallel()
	api := func(status int) func(*hostile, http.ResponseWriter, *http.Request) bool {
		return func(_ *hostile, w http.ResponseWriter, r *http.Request) bool {
			is := strings.Contains(r.URL.Path, "/referrers/")
			if is {
				w.WriteHeader(status)
			}
			return is
		}
	}
	asTag := func(mediaType string, body func(h *hostile) []byte) func(*hostile, http.ResponseWriter, *http.Request) bool {
		return func(h *hostile, w http.ResponseWriter, r *http.Request) bool {
			is := strings.Contains(r.URL.Path, "/manifests/sha256-")
			if is {
				w.Header().Set("Content-Type", mediaType)
				_, _ = w.Write(body(h))
			}
			return is
		}
	}
	for name, handle := range map[string]func(*hostile, http.ResponseWriter, *http.Request) bool{
		"404": api(404), "400": api(400), "403": api(403), "405": api(405), "501": api(501), "200 with a page": api(200),
		"the tag is the subject itself": asTag(oci.ManifestType, func(h *hostile) []byte { return h.provider.ManifestBytes }),
		"the tag is an image":           asTag(oci.ManifestType, func(*hostile) []byte { return []byte("{}") }),
		"the list has what is no manifest": asTag(oci.IndexType, func(h *hostile) []byte {
			return fmt.Appendf(nil, `{"manifests":[{"mediaType":"text/html","size":1,"digest":%q},{"mediaType":%q,"size":-1,"digest":%[1]q},{}]}`,
				h.provider.Module.Digest, oci.ManifestType)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool { return handle(h, w, r) }
			})
			r := repository(t, newClient(t, quick), h.host+"/n")
			if found, err := r.Referrers(t.Context(), h.provider.Manifest); err != nil || len(found) != 0 {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}

func TestTagsAreBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		page func(w http.ResponseWriter)
		want string
	}{
		"endless pages": {func(w http.ResponseWriter) {
			w.Header().Set("Link", `</v2/n/tags/list?again>; rel="next"`)
			fmt.Fprint(w, `{"tags":["1.0"]}`)
		}, "exceeded 100 pages"},
		"one endless page": {func(w http.ResponseWriter) {
			for _, err := fmt.Fprint(w, `{"tags":["`); err == nil; {
				_, err = fmt.Fprint(w, strings.Repeat("x", 1<<16))
			}
		}, "more than 4194304 bytes"},
		"too many": {func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"tags":["x"`)
			for i := range 30_000 {
				fmt.Fprintf(w, `,"%d"`, i)
			}
			fmt.Fprint(w, "]}")
		}, "more than 20000 tags"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, _ *http.Request) bool { test.page(w); return true }
			})
			_, err := repository(t, newClient(t, quick), h.host+"/n").Tags(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), h.host+"/n") {
				t.Errorf("%v; want %s", err, test.want)
			}
		})
	}
	h := startHostile(t, func(h *hostile) {
		h.handle = func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprintf(w, `{"tags":["2","sha256-%s","sha256-%[1]s.sig","1\u001b[2J","1","../x"]}`, oci.DigestOf(nil).Encoded())
			return true
		}
	})
	if tags, err := repository(t, newClient(t, quick), h.host+"/n").Tags(t.Context()); err != nil || !slices.Equal(tags, []string{"1", "2"}) {
		t.Errorf("%q, %v", tags, err)
	}
}

func TestABrokenDownloadResumes(t *testing.T) {
	t.Parallel()
	const part = 20_000
	for name, ranges := range map[string]bool{"with ranges": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			var starts []string
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if !isBlob(r, h.provider.Module) {
						return false
					}
					starts = append(starts, r.Header.Get("Range"))
					if !ranges {
						r.Header.Del("Range")
					}
					http.ServeContent(&cut{ResponseWriter: w, left: part * len(starts)}, r, "", time.Time{}, bytes.NewReader(h.module))
					return true
				}
			})
			to, err := h.pull(t, quick)
			if err != nil || !bytes.Equal(to.Bytes(h.provider.Module.Digest), h.module) {
				t.Fatal(err)
			}
			if len(starts) < 3 || starts[0] != "" || !strings.HasPrefix(starts[1], "bytes=") || starts[1] == starts[2] {
				t.Errorf("asked for %q", starts)
			}
		})
	}
}

// cut breaks the connection after a number of bytes.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; err == nil && c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func TestLiesAboutRangesGiveNoBytes(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(w http.ResponseWriter, module []byte, first int){
		"another start": func(w http.ResponseWriter, module []byte, first int) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first-1, len(module)-1, len(module)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(module[first-1:])
		},
		"another size": func(w http.ResponseWriter, module []byte, first int) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, len(module), len(module)+1))
			w.WriteHeader(http.StatusPartialContent)
		},
		"no range": func(w http.ResponseWriter, _ []byte, _ int) { w.WriteHeader(http.StatusPartialContent) },
		"other bytes": func(w http.ResponseWriter, module []byte, first int) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, len(module)-1, len(module)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(bytes.ToUpper(module[first:]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if !isBlob(r, h.provider.Module) {
						return false
					}
					if first := 0; r.Header.Get("Range") != "" {
						_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
						lie(w, h.module, first)
						return true
					}
					http.ServeContent(&cut{ResponseWriter: w, left: 1000}, r, "", time.Time{}, bytes.NewReader(h.module))
					return true
				}
			})
			if to, err := h.pull(t, quick); err == nil || to.Bytes(h.provider.Module.Digest) != nil || to.Len() != 0 {
				t.Errorf("%v, %d blobs", err, to.Len())
			}
		})
	}
}

func TestRequestsAreRepeatedAFewTimes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status, fails int
		want          string // empty: it succeeds
	}{
		"busy, then not": {http.StatusTooManyRequests, 3, ""}, "broken, then not": {http.StatusBadGateway, 3, ""},
		"busy for ever": {http.StatusTooManyRequests, 1000, "429"}, "broken for ever": {http.StatusServiceUnavailable, 1000, "try again later"},
		"forbidden": {http.StatusForbidden, 1, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					fail := isTag(r) && h.requests.Load() <= int64(test.fails)
					if fail {
						w.Header().Set("Retry-After", "100000")
						w.WriteHeader(test.status)
					}
					return fail
				}
			})
			_, err := h.pull(t, quick)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v; want %q", err, test.want)
			}
			if n := h.requests.Load(); n > 20 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// docker-registry denies for a moment that it has a blob which another client pushes too.
func TestAManifestIsPushedAgainWhileABlobIsUnknown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails int64
		code  string
		done  bool
	}{
		"for a moment": {2, "MANIFEST_BLOB_UNKNOWN", true}, "for ever": {1000, "MANIFEST_BLOB_UNKNOWN", false},
		"another error": {1, "MANIFEST_INVALID", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodPut {
						return false
					}
					if h.requests.Load() > test.fails {
						w.WriteHeader(http.StatusCreated)
						return true
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"errors":[{"code":"DIGEST_INVALID"},{"code":%q}]}`, test.code)
					return true
				}
			})
			r := repository(t, newClient(t, quick), h.host+"/n")
			err := r.Push(t.Context(), h.provider.Manifest, bytes.NewReader(h.provider.ManifestBytes))
			if (err == nil) != test.done || err != nil && !strings.Contains(err.Error(), test.code) || h.requests.Load() > 5 {
				t.Errorf("%v, after %d requests", err, h.requests.Load())
			}
		})
	}
}

func TestABrokenConnectionIsRepeated(t *testing.T) {
	t.Parallel()
	for name, linger := range map[string]int{"reset": 0, "ended": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHostile(t, func(h *hostile) {
				h.handle = func(w http.ResponseWriter, _ *http.Request) bool {
					if h.requests.Load() > 2 {
						return false
					}
					conn, _, err := http.NewResponseController(w).Hijack()
					if err == nil {
						_ = conn.(*net.TCPConn).SetLinger(linger) // 0 makes it a reset
						_ = conn.Close()
					}
					return true
				}
			})
			if _, err := h.pull(t, quick); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnInterruptedUploadIsRepeated(t *testing.T) {
	t.Parallel()
	next := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	var puts atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/uploads/") && puts.Add(1) == 1 {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	var local registrytest.Memory
	p := local.Add(t, module(500_000), "1.0")
	r := repository(t, newClient(t, quick), s.Listener.Addr().String()+"/n")
	if _, err := transfer.Copy(t.Context(), &local, "1.0", r, "1.0", transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if d, err := r.Resolve(t.Context(), "1.0"); err != nil || d.Digest != p.Manifest.Digest || puts.Load() != 3 {
		t.Errorf("%+v, %v, after %d uploads of two blobs", d, err, puts.Load())
	}
}

func TestCancelEndsAWait(t *testing.T) {
	t.Parallel()
	h := startHostile(t, func(h *hostile) {
		h.handle = func(w http.ResponseWriter, r *http.Request) bool { return stopHalfWay(h, w, r) }
	})
	var to registrytest.Memory
	ctx, cancel := context.WithCancel(t.Context())
	_, err := transfer.Copy(ctx, repository(t, newClient(t, remote.Options{}), h.host+"/n"), "1.0", &to, "1.0", transfer.Options{
		Progress: func(transfer.Progress) { cancel() },
	})
	if err == nil || ctx.Err() == nil || to.Len() != 0 {
		t.Errorf("%v, %d blobs", err, to.Len())
	}
}

func TestAServerThatTakesNoUploadIsLeft(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than the buffers of a connection
	h := startHostile(t, func(h *hostile) {
		h.handle = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				w.Header().Set("Location", "/v2/n/blobs/uploads/1")
				w.WriteHeader(http.StatusAccepted)
				return true
			}
			if r.Method == http.MethodPut {
				<-t.Context().Done() // a server that does not read does not see that the client has gone
			}
			return r.Method == http.MethodPut
		}
	})
	r := repository(t, newClient(t, impatient), h.host+"/n")
	d := oci.Descriptor{MediaType: oci.ModuleType, Digest: oci.DigestOf(nil), Size: size}
	err := r.Push(t.Context(), d, io.LimitReader(zeros{}, size))
	if err == nil || !strings.Contains(err.Error(), "sent nothing") {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestAServerThatAnswersNothingIsLeft(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the kernel accepts connections
	_, err = repository(t, newClient(t, impatient), l.Addr().String()+"/n").Tags(t.Context())
	if err == nil || !strings.Contains(err.Error(), "sent nothing") {
		t.Error(err)
	}
}

// Each answer has one more byte, and then nothing for as long as the client waits.
func TestAModuleThatDripsIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a module that comes slowly")
	}
	t.Parallel()
	const size = 1000
	h := startHostile(t, func(h *hostile) {
		h.provider = h.memory.Add(t, module(size), "small")
		h.handle = func(w http.ResponseWriter, r *http.Request) bool {
			if kind, _ := lastTwo(r.URL.Path); kind != "blobs" {
				return false
			}
			first := 0
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first); err == nil {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, size-1, size))
				w.WriteHeader(http.StatusPartialContent)
			}
			_, _ = w.Write(module(size)[first : first+1])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}
	})
	o := impatient
	o.Idle = time.Second // in which a busy machine sends that one byte
	body, err := repository(t, newClient(t, o), h.host+"/n").Fetch(t.Context(), h.provider.Module)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err == nil || h.requests.Load() > 50 {
		t.Errorf("%d requests, %d bytes, %v", h.requests.Load(), len(text), err)
	}
}
