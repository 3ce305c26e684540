package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/registry/internal/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	maxResumes      = 100     // of one blob, from one source
	maxFruitless    = 2       // of them in a row, without a byte
	maxErrorMessage = 8 << 10 // bytes
)

// A download is a blob that is being fetched. It resumes where the connection broke, then goes on with the next source.
type download struct {
	ctx        context.Context
	repository string
	d          oci.Descriptor
	sources    []*source // the one in use first

	body      io.ReadCloser
	offset    int64
	resumes   int
	fruitless int
	end       time.Time // from when on the source in use is asked for no more
}

func (r *Repository) download(ctx context.Context, d oci.Descriptor, sources []*source) (io.ReadCloser, error) {
	b := &download{ctx: ctx, repository: r.name, d: d, sources: sources}
	b.begin()
	if err := b.open(); err != nil {
		return nil, err
	}
	return b, nil
}

// begin gives the first source its time: twice what one slow answer may take. Otherwise each answer with a few bytes would get
// the time of the whole.
func (b *download) begin() {
	b.resumes, b.fruitless = 0, 0
	slowest := 2*b.sources[0].options.Idle + time.Duration(b.d.Size/slowestRate)*time.Second
	b.end = time.Now().Add(2 * slowest)
}

// Read implements io.Reader. It returns io.EOF after as many bytes as the descriptor has.
func (b *download) Read(p []byte) (int, error) {
	for b.offset < b.d.Size {
		n, err := b.body.Read(p[:min(int64(len(p)), b.d.Size-b.offset)])
		if b.offset += int64(n); n > 0 {
			b.fruitless = 0
			return n, nil // an error comes again
		}
		if err == nil {
			return 0, nil
		}
		if err := b.resume(err); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// Close ends the download.
func (b *download) Close() error { return b.body.Close() }

// resume opens the rest, after the connection broke because of why.
func (b *download) resume(why error) error {
	_ = b.body.Close()
	if b.ctx.Err() != nil {
		return b.fail(why)
	}
	if why == io.EOF {
		why = io.ErrUnexpectedEOF
	}
	if b.resumes++; b.resumes > maxResumes || b.fruitless == maxFruitless || time.Now().After(b.end) {
		if len(b.sources) == 1 {
			return b.fail(why)
		}
		b.sources = b.sources[1:]
		b.begin()
	}
	if b.fruitless > 0 {
		if err := sleep(b.ctx, b.sources[0].options.Backoff<<b.fruitless); err != nil {
			return b.fail(err)
		}
	}
	b.fruitless++
	return b.open()
}

// open asks the sources in order for what is left.
func (b *download) open() error {
	b.body = http.NoBody
	for {
		body, err := b.sources[0].blob(b.ctx, b.d, b.offset)
		if err == nil {
			b.body = body
			return nil
		}
		if len(b.sources) == 1 || b.ctx.Err() != nil {
			return b.fail(err)
		}
		b.sources = b.sources[1:]
		b.begin()
	}
}

func (b *download) fail(err error) error {
	return b.sources[0].explain(b.ctx, fmt.Sprintf("fetch blob %s of %s", b.d.Digest, b.sources[0]), err)
}

// blob asks for a blob from an offset on.
func (s *source) blob(ctx context.Context, d oci.Descriptor, offset int64) (io.ReadCloser, error) {
	repo, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	ref := registry.Reference{Registry: s.host, Repository: s.path, Reference: string(d.Digest)}
	u := url.URL{Scheme: "https", Host: ref.Host(), Path: "/v2/" + s.path + "/blobs/" + string(d.Digest)}
	if repo.PlainHTTP {
		u.Scheme = "http"
	}
	ctx = auth.AppendRepositoryScope(ctx, ref, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	if err := position(resp, d, offset); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// errRange says that a registry lies about the range of bytes that it sends.
var errRange = errors.New("the registry did not answer the range of bytes that it was asked for: use another registry or a mirror")

// position checks an answer, and leaves its body at offset.
func position(resp *http.Response, d oci.Descriptor, offset int64) error {
	switch {
	case resp.StatusCode == http.StatusOK:
		if resp.ContentLength >= 0 && resp.ContentLength != d.Size {
			return &oci.MismatchError{Want: d.Digest, Size: resp.ContentLength}
		}
		_, err := io.CopyN(io.Discard, resp.Body, offset) // a registry without ranges
		return err
	case resp.StatusCode == http.StatusPartialContent && offset > 0:
		r, ok := parseContentRange(resp.Header.Get("Content-Range"))
		if !ok || r.first != offset || r.last >= d.Size || r.size >= 0 && r.size != d.Size {
			return errRange
		}
		return nil
	case resp.StatusCode == http.StatusPartialContent:
		return errRange
	case resp.StatusCode == http.StatusNotFound:
		return errdef.ErrNotFound
	}
	return errorOf(resp)
}

// errorOf reads the errors in an answer, as far as there are some.
func errorOf(resp *http.Response) error {
	failed := &errcode.ErrorResponse{Method: resp.Request.Method, URL: resp.Request.URL, StatusCode: resp.StatusCode}
	var body struct {
		Errors errcode.Errors `json:"errors"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxErrorMessage)).Decode(&body) == nil {
		failed.Errors = body.Errors
	}
	return failed
}

// A contentRange is the value of a header Content-Range, in bytes.
type contentRange struct {
	first, last int64
	size        int64 // of the whole; -1 if it is not told
}

// parseContentRange parses "bytes first-last/size", where size may be *.
func parseContentRange(value string) (r contentRange, ok bool) {
	rest, ok := strings.CutPrefix(value, "bytes ")
	span, size, cut := strings.Cut(rest, "/")
	first, last, dash := strings.Cut(span, "-")
	if !ok || !cut || !dash {
		return r, false
	}
	r.size = -1
	ok = parseInt(first, &r.first) && parseInt(last, &r.last) && (size == "*" || parseInt(size, &r.size))
	return r, ok && r.first <= r.last && (r.size < 0 || r.last < r.size)
}

// parseInt parses a number of decimal digits alone.
func parseInt(text string, n *int64) bool {
	u, err := strconv.ParseUint(text, 10, 63)
	*n = int64(u)
	return err == nil && text[0] != '+'
}
