package response_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// An answer is what a client receives, and the error of the Writer.
type answer struct {
	status                int
	contentType, encoding string
	body                  string // without its coding
	err                   error
}

// viaHTTP has a Writer write to a response of net/http.
func viaHTTP(ctx context.Context, t *testing.T, core *mcp.Core, m *mcp.Message, client response.Client) answer {
	w := httptest.NewRecorder()
	err := response.New(w).Answer(ctx, core, m, client)
	return received(t, w.Result(), err)
}

// viaConn has a Writer write to a connection.
func viaConn(ctx context.Context, t *testing.T, core *mcp.Core, m *mcp.Message, client response.Client) answer {
	here, there := net.Pipe()
	var deadline response.Deadline
	written := make(chan error, 1)
	go func() {
		defer there.Close()
		written <- response.NewConn(there, &deadline, new(response.Clock)).Answer(ctx, core, m, client)
	}()
	defer here.Close()
	r, err := http.ReadResponse(bufio.NewReader(here), nil)
	if err != nil {
		return answer{err: <-written}
	}
	got := received(t, r, nil)
	got.err = <-written
	return got
}

func received(t *testing.T, r *http.Response, err error) answer {
	got := answer{
		status: r.StatusCode, contentType: r.Header.Get("Content-Type"), encoding: r.Header.Get("Content-Encoding"),
		err: err,
	}
	in := io.Reader(r.Body)
	if got.encoding == "gzip" {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	body, _ := io.ReadAll(in) // of an answer that is cut off, what there is
	got.body = string(body)
	return got
}

// Both outputs of a Writer give the same answers, whole and in parts, compressed and as they are.
func TestBothOutputsAnswerAlike(t *testing.T) {
	const budget = 64 << 10
	text := strings.Repeat("a line of text\n", 20_000)
	tests := []struct {
		name     string
		uri      string
		client   response.Client
		cancel   bool
		full     bool // there is no memory for compression
		want     answer
		contains string
	}{
		{name: "small", uri: "test://text", want: answer{status: 200, contentType: "application/json"}, contains: `"text":"hello"`},
		{name: "error", uri: "test://none", want: answer{status: 200, contentType: "application/json"}, contains: `"error":{"code":-32602,`},
		{name: "long", uri: "test://long", want: answer{status: 200, contentType: "application/json"}, contains: `a line of text\n"`},
		{
			name: "long, compressed", uri: "test://long", client: response.Client{AcceptEncoding: "gzip"},
			want: answer{status: 200, contentType: "application/json", encoding: "gzip"}, contains: `a line of text\n"`,
		},
		{
			name: "medium, compressed", uri: "test://medium", client: response.Client{AcceptEncoding: "br,gzip"},
			want: answer{status: 200, contentType: "application/json", encoding: "gzip"}, contains: `a line of text\n"`,
		},
		{
			name: "compressed, local client", uri: "test://medium", client: response.Client{Local: true, AcceptEncoding: "gzip"},
			want: answer{status: 200, contentType: "application/json"}, contains: `a line of text\n"`,
		},
		{
			name: "compressed, no memory", uri: "test://long", client: response.Client{AcceptEncoding: "gzip"}, full: true,
			want: answer{status: 200, contentType: "application/json"}, contains: `a line of text\n"`,
		},
		{name: "failure after a part", uri: "test://broken", want: answer{status: 200, contentType: "application/json", err: response.ErrCutOff}, contains: "a line of text"},
		{name: "cancelled", uri: "test://text", cancel: true, want: answer{status: 200, contentType: "text/event-stream"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := streamtest.Source()
			src.Text("test://long", text)
			src.Text("test://medium", text[:40_005])
			src.Handle(abi.Resource{URI: "test://broken", Name: "broken"}, func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
				err := mcptest.Send(sink, &abi.Content{URI: req.URI.String(), Kind: abi.KindText}, []byte(text))
				return nil, errors.Join(err, abi.Errorf(abi.CodeTrap, "The provider crashed"))
			})
			flight := inflight.New(0)
			core, err := mcp.New(mcp.Config{Source: src, Name: "test", Version: "1", Budget: budget, InFlight: flight})
			if err != nil {
				t.Fatal(err)
			}
			held := 0
			if tt.full {
				held = flight.Most() - 512<<10
				flight.Force(held)
			}
			var bodies []string
			for name, via := range map[string]func(context.Context, *testing.T, *mcp.Core, *mcp.Message, response.Client) answer{
				"net/http": viaHTTP, "connection": viaConn,
			} {
				m, failure := mcp.ParseMessage([]byte(streamtest.Body("1", "resources/read", fmt.Sprintf(`"uri":%q`, tt.uri))))
				if failure != nil {
					t.Fatal(failure)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				if tt.cancel {
					cancel(mcp.ErrCancelled)
				}
				got := via(ctx, t, core, m, tt.client)
				cancel(nil)
				body := got.body
				got.body = ""
				if got != tt.want || !strings.Contains(body, tt.contains) || tt.cancel && body != "" {
					t.Errorf("%s: got %+v with %.100q, want %+v with %q", name, got, body, tt.want, tt.contains)
				}
				if used := flight.Used(); used != int64(2*held) {
					t.Errorf("%s: %d bytes are counted after the answer, want %d", name, used, 2*held)
				}
				bodies = append(bodies, body)
			}
			if tt.want.err == nil && bodies[0] != bodies[1] {
				t.Errorf("the bodies differ: %.100q and %.100q", bodies[0], bodies[1])
			}
		})
	}
}
