package legacy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

// The SDK's client can make each kind of request.
func TestClient(t *testing.T) {
	for _, revision := range append(revisions, "") { // "" lets the client ask for 2026-07-28 and fall back
		t.Run("http "+revision, func(t *testing.T) {
			f := newFake()
			front := newFront(t, f, withTools)
			server := httptest.NewServer(front)
			defer server.Close()
			defer front.Close()
			useClient(t, f, &sdk.StreamableClientTransport{Endpoint: server.URL}, revision)
		})
		t.Run("stdio "+revision, func(t *testing.T) {
			f := newFake()
			useClient(t, f, pipe(t, newFront(t, f, withTools)), revision)
		})
	}
}

// pipe returns the client's end of a stdio connection.
func pipe(t *testing.T, front *legacy.Front) sdk.Transport {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var mu sync.Mutex // lines are written whole
	s, err := front.Connect(t.Context(), func(line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		dec := json.NewDecoder(in)
		for {
			var line json.RawMessage
			if dec.Decode(&line) != nil || s.Receive(line) != nil {
				break
			}
		}
		s.Close()
		out.Close()
	}()
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

func useClient(t *testing.T, f *fake, over sdk.Transport, revision string) {
	t.Helper()
	changes, updates, progress := make(chan struct{}, 10), make(chan string, 10), make(chan float64, 10)
	cs := connectSDK(t, over, revision, &sdk.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			changes <- struct{}{}
		},
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			updates <- r.Params.URI
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
	})
	askClient(t, cs)

	read := &sdk.ReadResourceParams{URI: "test://progress"}
	read.SetProgressToken("tok")
	if _, err := cs.ReadResource(t.Context(), read); err != nil {
		t.Error(err)
	}
	if got := within(t, "progress", progress); got != 1 {
		t.Errorf("got progress %v, want 1", got)
	}

	if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "test://watched"}); err != nil {
		t.Error(err)
	}
	f.change("test://watched")
	if got := within(t, "an update", updates); got != "test://watched" {
		t.Errorf("got an update of %s", got)
	}
	if err := cs.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "test://watched"}); err != nil {
		t.Error(err)
	}
	eventually(t, "the list is watched alone", func() bool { return f.watching() == 1 })
	f.change("")
	within(t, "a change of the list", changes)

	if err := cs.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
}

// askClient makes each kind of request once.
func askClient(t *testing.T, cs *sdk.ClientSession) {
	t.Helper()
	ctx := t.Context()
	var uris []string
	for r, err := range cs.Resources(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URI)
	}
	if diff := cmp.Diff([]string{"test://text", "test://other"}, uris); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if res, err := cs.ListResourceTemplates(ctx, nil); err != nil || len(res.ResourceTemplates) != 1 {
		t.Errorf("templates: %+v, %v", res, err)
	}
	blob, err := cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: "test://other"})
	if err != nil || !bytes.Equal(blob.Contents[0].Blob, []byte{0, 1, 2}) {
		t.Errorf("read: %+v, %v", blob, err)
	}
	complete := &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: "test://item/{id}"},
		Argument: sdk.CompleteParamsArgument{Name: "id"},
	}
	if res, err := cs.Complete(ctx, complete); err != nil || len(res.Completion.Values) != 2 {
		t.Errorf("complete: %+v, %v", res, err)
	}
	if res, err := cs.ListTools(ctx, nil); err != nil || len(res.Tools) != 1 {
		t.Errorf("tools: %+v, %v", res, err)
	}
	called, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "read_resource"})
	if err != nil || called.Content[0].(*sdk.TextContent).Text != "read_resource" {
		t.Errorf("call: %+v, %v", called, err)
	}
}
