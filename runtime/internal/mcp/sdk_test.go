package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/stdio"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/resource"
)

// An sdkClient is the official client of one server, and what it was told.
type sdkClient struct {
	*sdk.ClientSession
	updated  chan string
	changed  chan struct{}
	progress chan float64
}

func connect(t *testing.T, transport sdk.Transport) *sdkClient {
	t.Helper()
	c := &sdkClient{updated: make(chan string, 100), changed: make(chan struct{}, 100), progress: make(chan float64, 100)}
	client := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			c.changed <- struct{}{}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.progress <- r.Params.Progress },
	})
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != string(mcp.Revision20260728) {
		t.Fatalf("the client speaks %s to us", got)
	}
	c.ClientSession = session
	return c
}

// TestSDKClient lets the official client talk to both fronts in the modern revision.
func TestSDKClient(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		s := newSource()
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- stdio.Serve(t.Context(), stdio.Config{Core: newCore(t, mcp.Config{Source: s, Tools: true}), In: in, Out: out})
			out.Close()
		}()
		converse(t, s, connect(t, &sdk.IOTransport{Reader: fromServer, Writer: toServer}))
		// The client may have closed the pipe before the subscription it had has been answered.
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		s := newSource()
		h, err := streamable.New(streamable.Config{Core: newCore(t, mcp.Config{Source: s, Tools: true})})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h)
		defer server.Close()
		converse(t, s, connect(t, &sdk.StreamableClientTransport{Endpoint: server.URL + streamable.Path}))
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func converse(t *testing.T, s *mcptest.Source, c *sdkClient) {
	ctx := t.Context()
	var uris []string
	for r, err := range c.Resources(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URI)
	}
	if len(uris) < 10 || !slices.Contains(uris, "test://rich") {
		t.Errorf("got resources %q", uris)
	}
	for r, err := range c.ResourceTemplates(ctx, nil) {
		if err != nil || r.URITemplate != mcptest.Greeting {
			t.Errorf("got template %v, %v", r, err)
		}
	}
	for uri, want := range map[string]string{"test://text": "Tom & \"Jerry\" <3\n\u2028 café", "test://empty": "", "test://blob": "\x00\x01\x02\xff", "greeting://Ada": "Hello, Ada!"} {
		res, err := c.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(res.Contents) != 1 || res.Contents[0].Text+string(res.Contents[0].Blob) != want {
			t.Errorf("%s: got %v, %v", uri, res, err)
		}
	}
	_, err := c.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://nope"})
	var failed *jsonrpc.Error
	if !errors.As(err, &failed) || failed.Code != mcp.CodeInvalidParams {
		t.Errorf("got %v for what is not there", err)
	}
	completion, err := c.Complete(ctx, &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: mcptest.Greeting}, Argument: sdk.CompleteParamsArgument{Name: "name", Value: "A"},
	})
	if err != nil || !slices.Equal(completion.Completion.Values, []string{"Ada", "Alan"}) {
		t.Errorf("got completion %v, %v", completion, err)
	}
	converseTools(t, c)
	converseProgress(t, c)
	converseChanges(t, s, c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func converseTools(t *testing.T, c *sdkClient) {
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Errorf("got tools %v, %v", tools, err)
	}
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_resource", Arguments: map[string]any{"uri": "greeting://Ada"}})
	if err != nil || res.IsError || len(res.Content) != 1 || res.Content[0].(*sdk.EmbeddedResource).Resource.Text != "Hello, Ada!" {
		t.Errorf("got %v, %v", res, err)
	}
	res, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_resources"})
	if err != nil || res.IsError || len(res.Content) < 2 {
		t.Fatalf("got %v, %v", res, err)
	}
	if link, ok := res.Content[1].(*sdk.ResourceLink); !ok || link.URI == "" || link.Name == "" {
		t.Errorf("got %+v, want a link to a resource", res.Content[1])
	}
	if page, ok := res.StructuredContent.(map[string]any); !ok || page["resources"] == nil || page["resourceTemplates"] == nil {
		t.Errorf("got structured content %v", res.StructuredContent)
	}
	res, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_resource", Arguments: map[string]any{"uri": "test://nope"}})
	if err != nil || !res.IsError {
		t.Errorf("got %v, %v, want an error inside", res, err)
	}
}

func converseProgress(t *testing.T, c *sdkClient) {
	params := &sdk.ReadResourceParams{URI: "test://rich"}
	params.SetProgressToken("token")
	if _, err := c.ReadResource(t.Context(), params); err != nil {
		t.Error(err)
	}
	for _, want := range []float64{1, 2, 2.5, 3.5, 4.5} {
		if got := within(t, c.progress); got != want {
			t.Errorf("got progress %v, want %v", got, want)
		}
	}
}

func converseChanges(t *testing.T, s *mcptest.Source, c *sdkClient) {
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "test://text"}); err != nil {
		t.Fatal(err)
	}
	s.AwaitWatchers(2) // the client does not wait for the acknowledgment
	s.Text("test://text", "new")
	if got := within(t, c.updated); got != "test://text" {
		t.Errorf("got an update of %s", got)
	}
	s.Text("test://added", "")
	within(t, c.changed)
	if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "test://text"}); err != nil {
		t.Error(err)
	}
	// A cancelled read has no answer, and the session goes on.
	entered := make(chan struct{})
	s.Handle(abi.Resource{URI: "test://long", Name: "long"}, func(ctx context.Context, _ *resource.Request, _ abi.Sink) (*abi.Reply, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	if _, err := c.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://long"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancellation", err)
	}
}

// within returns what comes soon.
func within[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(time.Minute):
		t.Error("nothing came")
	}
	return v
}
