package legacy_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// The tests of this file use the core over resources in memory. The others, which compare bytes, use a fake.

func newLibrary() *mcptest.Source {
	source := mcptest.New()
	source.PageSize = 2
	source.Text("test://a", "text & <markup>")
	source.Text("test://empty", "")
	source.Blob("test://blob", []byte{0, 1, 2, 255})
	source.Handle(abi.Resource{URI: "test://progress", Name: "progress"},
		func(_ context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
			sink.Progress(abi.Progress{Done: 1, Total: 2, Message: "half"})
			c := &abi.Content{URI: req.URI.String(), Kind: abi.KindText}
			return &abi.Reply{}, mcptest.Send(sink, c, []byte("done"))
		})
	return source
}

func newCoreFront(t *testing.T, source *mcptest.Source) *legacy.Front {
	t.Helper()
	core, err := mcp.New(mcp.Config{Source: source, Name: "library", Version: "1", Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	front, err := legacy.New(legacy.Config{Core: core, Source: source, Name: "library", Version: "1", Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	return front
}

// news has the notifications that a client received.
type news struct {
	lists    chan struct{}
	updates  chan string
	progress chan *sdk.ProgressNotificationParams
}

// onCore runs a test with the SDK's client over both transports, in each revision.
func onCore(t *testing.T, test func(*testing.T, *mcptest.Source, *sdk.ClientSession, news)) {
	for _, revision := range revisions {
		run := func(over func(*testing.T, *legacy.Front) sdk.Transport) func(*testing.T) {
			return func(t *testing.T) {
				n := news{make(chan struct{}, 100), make(chan string, 100), make(chan *sdk.ProgressNotificationParams, 100)}
				source := newLibrary()
				cs := connectSDK(t, over(t, newCoreFront(t, source)), revision, n.options())
				defer cs.Close()
				test(t, source, cs, n)
			}
		}
		t.Run("stdio "+revision, run(pipe))
		t.Run("http "+revision, run(func(t *testing.T, front *legacy.Front) sdk.Transport {
			server := httptest.NewServer(front)
			t.Cleanup(server.Close)
			t.Cleanup(func() { front.Close() }) // before the server, which waits for streams
			return &sdk.StreamableClientTransport{Endpoint: server.URL}
		}))
	}
}

func (n news) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			n.lists <- struct{}{}
		},
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			n.updates <- r.Params.URI
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			n.progress <- r.Params
		},
	}
}

func TestCoreListsAndReads(t *testing.T) {
	onCore(t, func(t *testing.T, _ *mcptest.Source, cs *sdk.ClientSession, _ news) {
		got := make(map[string]string)
		for r, err := range cs.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			res, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatalf("read %s: %v", r.URI, err)
			}
			got[r.URI] = res.Contents[0].Text + string(res.Contents[0].Blob)
		}
		want := map[string]string{
			"test://a": "text & <markup>", "test://empty": "", "test://blob": "\x00\x01\x02\xff", "test://progress": "done",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestCoreServesTemplatesCompletionAndTools(t *testing.T) {
	onCore(t, func(t *testing.T, _ *mcptest.Source, cs *sdk.ClientSession, _ news) {
		ctx := t.Context()
		templates, err := cs.ListResourceTemplates(ctx, nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != mcptest.Greeting {
			t.Errorf("got templates %+v, %v", templates, err)
		}
		complete, err := cs.Complete(ctx, &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: mcptest.Greeting},
			Argument: sdk.CompleteParamsArgument{Name: "name", Value: "A"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"Ada", "Alan"}, complete.Completion.Values); diff != "" {
			t.Errorf("completion (-want +got):\n%s", diff)
		}
		called, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "read_resource", Arguments: map[string]any{"uri": "greeting://Ada"}})
		if err != nil || called.IsError || len(called.Content) == 0 {
			t.Errorf("got %+v, %v from the tool", called, err)
		}
	})
}

func TestCoreErrorsKeepTheirCode(t *testing.T) {
	onCore(t, func(t *testing.T, _ *mcptest.Source, cs *sdk.ClientSession, _ news) {
		ctx := t.Context()
		_, read := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://nothing"})
		_, list := cs.ListResources(ctx, &sdk.ListResourcesParams{Cursor: "zz"})
		subscribe := cs.Subscribe(ctx, &sdk.SubscribeParams{URI: "test://nothing"})
		for _, c := range []struct {
			name string
			err  error
			want int64
		}{{"read", read, -32002}, {"list", list, -32602}, {"subscribe", subscribe, -32002}} {
			var got *jsonrpc.Error
			if !errors.As(c.err, &got) || got.Code != c.want {
				t.Errorf("%s: got %v, want code %d", c.name, c.err, c.want)
			}
		}
	})
}

func TestCoreReportsChanges(t *testing.T) {
	onCore(t, func(t *testing.T, source *mcptest.Source, cs *sdk.ClientSession, got news) {
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "test://a"}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "both are watched", func() bool { return source.Watchers() == 2 })
		source.Text("test://blob", "without a subscription")
		source.Text("test://a", "new")
		if got := within(t, "an update", got.updates); got != "test://a" {
			t.Errorf("got an update of %s", got)
		}
		source.Text("test://new", "new")
		within(t, "a change of the list", got.lists)

		read := &sdk.ReadResourceParams{URI: "test://progress"}
		read.SetProgressToken("tok")
		if _, err := cs.ReadResource(t.Context(), read); err != nil {
			t.Error(err)
		}
		p := within(t, "progress", got.progress)
		if p.ProgressToken != "tok" || p.Progress != 1 || p.Message != "half" {
			t.Errorf("got progress %+v", p)
		}
		cs.Close()
		eventually(t, "nothing is watched", func() bool { return source.Watchers() == 0 })
	})
}
