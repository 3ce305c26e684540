// Command sdk checks the client of the official Go SDK, in the version that the go.mod in use requires.
package main

import (
	"context"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/internal/e2e/compatibility/goclients/checks"
)

func main() { checks.Run(connect) }

func connect(ctx context.Context, t checks.Target) (*checks.Client, error) {
	updated, changed := make(chan string, 100), make(chan struct{}, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "wasmres-compatibility", Version: "1.0.0"}, &mcp.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- struct{}{} },
	})
	var transport mcp.Transport
	if t.URL != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: t.URL}
	} else {
		transport = &mcp.CommandTransport{Command: exec.Command(t.Command[0], t.Command[1:]...)}
	}
	s, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, err
	}
	return &checks.Client{
		Revision: func() string { return s.InitializeResult().ProtocolVersion },
		List: func(ctx context.Context) (uris []string, err error) {
			for r, err := range s.Resources(ctx, nil) {
				if err != nil {
					return nil, err
				}
				uris = append(uris, r.URI)
			}
			return uris, nil
		},
		Page: func(ctx context.Context, cursor string) error {
			_, err := s.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			return err
		},
		Templates: func(ctx context.Context) (all []string, err error) {
			for r, err := range s.ResourceTemplates(ctx, nil) {
				if err != nil {
					return nil, err
				}
				all = append(all, r.URITemplate)
			}
			return all, nil
		},
		Read: func(ctx context.Context, uri string) (all []checks.Content, err error) {
			res, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				return nil, err
			}
			for _, c := range res.Contents {
				all = append(all, checks.Content{Text: c.Text, Blob: c.Blob})
			}
			return all, nil
		},
		CancelByReads: true,
		Complete: func(ctx context.Context, template, name, value string) ([]string, error) {
			res, err := s.Complete(ctx, &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: template},
				Argument: mcp.CompleteParamsArgument{Name: name, Value: value},
			})
			if err != nil {
				return nil, err
			}
			return res.Completion.Values, nil
		},
		Subscribe:   func(ctx context.Context, uri string) error { return s.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}) },
		Updated:     updated,
		ListChanged: changed,
		Tools: func(ctx context.Context) (names []string, err error) {
			res, err := s.ListTools(ctx, nil)
			if err != nil {
				return nil, err
			}
			for _, t := range res.Tools {
				names = append(names, t.Name)
			}
			return names, nil
		},
		Call: func(ctx context.Context, name string, args map[string]any) (any, error) {
			return s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		},
		Close: s.Close,
	}, nil
}
