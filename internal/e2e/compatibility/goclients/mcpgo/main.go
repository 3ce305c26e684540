// Command mcpgo checks the client of mcp-go.
package main

import (
	"context"
	"encoding/base64"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/wasmres/wasmres/internal/e2e/compatibility/goclients/checks"
)

func main() { checks.Run(connect) }

func open(ctx context.Context, t checks.Target) (*client.Client, error) {
	if t.URL == "" {
		c, err := client.NewStdioMCPClient(t.Command[0], nil, t.Command[1:]...)
		if err != nil {
			return nil, err
		}
		return c, c.Start(ctx) // or notifications reach no handler
	}
	c, err := client.NewStreamableHttpClient(t.URL, transport.WithContinuousListening())
	if err != nil {
		return nil, err
	}
	return c, c.Start(ctx)
}

func connect(ctx context.Context, t checks.Target) (*checks.Client, error) {
	c, err := open(ctx, t)
	if err != nil {
		return nil, err
	}
	updated, changed, acknowledged := make(chan string, 100), make(chan struct{}, 100), make(chan struct{}, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case "notifications/resources/updated":
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			updated <- uri
		case "notifications/subscriptions/acknowledged":
			acknowledged <- struct{}{}
		case "notifications/resources/list_changed":
			changed <- struct{}{}
		}
	})
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "wasmres-compatibility", Version: "1.0.0"}
	info, err := c.Initialize(ctx, req)
	if err != nil {
		return nil, err
	}
	listen := func(ctx context.Context, filter mcp.SubscriptionFilter) error {
		if info.ProtocolVersion < "2026-07-28" {
			return nil
		}
		if _, err := c.ListenAsync(context.Background(), filter, func(error) {}); err != nil {
			return err
		}
		select {
		case <-acknowledged:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &checks.Client{
		Revision: func() string { return info.ProtocolVersion },
		List: func(ctx context.Context) (uris []string, err error) {
			res, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
			if err != nil {
				return nil, err
			}
			for _, r := range res.Resources {
				uris = append(uris, r.URI)
			}
			return uris, nil
		},
		Page: func(ctx context.Context, cursor string) error {
			req := mcp.ListResourcesRequest{}
			req.Params.Cursor = mcp.Cursor(cursor)
			_, err := c.ListResourcesByPage(ctx, req)
			return err
		},
		Templates: func(ctx context.Context) (all []string, err error) {
			res, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
			if err != nil {
				return nil, err
			}
			for _, t := range res.ResourceTemplates {
				all = append(all, t.URITemplate.Raw())
			}
			return all, nil
		},
		Read: func(ctx context.Context, uri string) ([]checks.Content, error) {
			req := mcp.ReadResourceRequest{}
			req.Params.URI = uri
			res, err := c.ReadResource(ctx, req)
			if err != nil {
				return nil, err
			}
			return contents(res.Contents)
		},
		CancelByReads: true,
		Complete: func(ctx context.Context, template, name, value string) ([]string, error) {
			req := mcp.CompleteRequest{}
			req.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: template}
			req.Params.Argument.Name, req.Params.Argument.Value = name, value
			res, err := c.Complete(ctx, req)
			if err != nil {
				return nil, err
			}
			return res.Completion.Values, nil
		},
		Subscribe: func(ctx context.Context, uri string) error {
			req := mcp.SubscribeRequest{}
			req.Params.URI = uri
			if err := c.Subscribe(ctx, req); err != nil {
				return err
			}
			return listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}})
		},
		Updated:     updated,
		ListChanged: changed,
		Listen: func(ctx context.Context) error {
			return listen(ctx, mcp.SubscriptionFilter{ResourcesListChanged: true})
		},
		Tools: func(ctx context.Context) (names []string, err error) {
			res, err := c.ListTools(ctx, mcp.ListToolsRequest{})
			if err != nil {
				return nil, err
			}
			for _, t := range res.Tools {
				names = append(names, t.Name)
			}
			return names, nil
		},
		Call: func(ctx context.Context, name string, args map[string]any) (any, error) {
			req := mcp.CallToolRequest{}
			req.Params.Name, req.Params.Arguments = name, args
			return c.CallTool(ctx, req)
		},
		Close: c.Close,
	}, nil
}

func contents(from []mcp.ResourceContents) (all []checks.Content, err error) {
	for _, c := range from {
		switch c := c.(type) {
		case mcp.TextResourceContents:
			all = append(all, checks.Content{Text: c.Text})
		case mcp.BlobResourceContents:
			blob, err := base64.StdEncoding.DecodeString(c.Blob)
			if err != nil {
				return nil, err
			}
			all = append(all, checks.Content{Blob: blob})
		}
	}
	return all, nil
}
