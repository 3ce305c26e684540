// Package checks is checks.mjs for clients in Go: what a client of resources does, and a line of JSON for each of it.
package checks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// patience bounds one check.
const patience = 20 * time.Second

// A Target says how the server is reached: by URL, or as a command.
type Target struct {
	URL     string
	Command []string
}

// Args reads what stands behind the program's name: "http URL" or "stdio COMMAND ARGS…".
func Args() Target {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: http URL | stdio COMMAND ARGS…")
		os.Exit(2)
	}
	if os.Args[1] == "http" {
		return Target{URL: os.Args[2]}
	}
	return Target{Command: os.Args[2:]}
}

// A Content is one content of a resource.
type Content struct {
	Text string
	Blob []byte
}

// A Client is what is checked. A nil function is a call that the client does not have.
type Client struct {
	Revision      func() string
	List          func(ctx context.Context) (uris []string, err error)
	Page          func(ctx context.Context, cursor string) error
	Templates     func(ctx context.Context) (templates []string, err error)
	Read          func(ctx context.Context, uri string) ([]Content, error)
	Complete      func(ctx context.Context, template, name, value string) ([]string, error)
	Subscribe     func(ctx context.Context, uri string) error
	Updated       <-chan string
	ListChanged   <-chan struct{}
	Listen        func(ctx context.Context) error // asks for changes of the list, where that needs a call; nil where not
	Tools         func(ctx context.Context) ([]string, error)
	Call          func(ctx context.Context, name string, args map[string]any) (any, error)
	Close         func() error
	CancelByReads bool // a cancelled context of Read cancels the request
}

func say(check, result, why string) {
	line, _ := json.Marshal(map[string]string{"check": check, "result": result, "why": why[:min(len(why), 300)]})
	fmt.Println(string(line))
}

func check(title string, has bool, run func(ctx context.Context) error) {
	if !has {
		say(title, "-", "")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case err := <-ended:
		if err != nil {
			say(title, "no", err.Error())
			return
		}
		say(title, "ok", "")
	case <-time.After(patience + time.Second):
		say(title, "no", "it does not end")
	}
}

// Run connects and checks.
func Run(connect func(ctx context.Context, t Target) (*Client, error)) {
	c := &Client{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	made, err := connect(ctx, Args())
	if err != nil {
		say("connect", "no", err.Error())
	} else {
		c = made
		say("connect", "ok", c.Revision())
	}
	text := func(ctx context.Context, uri string) (string, error) {
		contents, err := c.Read(ctx, uri)
		if err != nil || len(contents) == 0 {
			return "", fmt.Errorf("%d contents: %w", len(contents), err)
		}
		return contents[0].Text, nil
	}
	wants := func(uri, part string) func(context.Context) error {
		return func(ctx context.Context) error {
			got, err := text(ctx, uri)
			if err == nil && !strings.Contains(got, part) {
				err = fmt.Errorf("got %.100q", got)
			}
			return err
		}
	}
	check("list", c.List != nil, func(ctx context.Context) error {
		uris, err := c.List(ctx)
		if err == nil && (len(uris) < 10_000 || !slices.Contains(uris, "test://static-text")) {
			err = fmt.Errorf("%d of more than 10,000 resources", len(uris))
		}
		return err
	})
	check("templates", c.Templates != nil, func(ctx context.Context) error {
		all, err := c.Templates(ctx)
		if err == nil && !slices.Contains(all, "test://template/{id}/data") {
			err = fmt.Errorf("got %q", all)
		}
		return err
	})
	check("read text", c.Read != nil, wants("test://static-text", "This is the content of the static text resource."))
	check("read bytes", c.Read != nil, func(ctx context.Context) error {
		contents, err := c.Read(ctx, "test://static-binary")
		if err == nil && (len(contents) != 1 || !strings.HasPrefix(string(contents[0].Blob), "\x89PNG")) {
			err = fmt.Errorf("got %d contents", len(contents))
		}
		return err
	})
	check("read by template", c.Read != nil, wants("test://template/123/data", `"id":"123"`))
	check("read other scripts", c.Read != nil, wants("test://ünïcode/日本語", "日本語"))
	check("complete", c.Complete != nil, func(ctx context.Context) error {
		values, err := c.Complete(ctx, "test://template/{id}/data", "id", "1")
		if err == nil && len(values) == 0 {
			err = fmt.Errorf("no values")
		}
		return err
	})
	check("not found", c.Read != nil, func(ctx context.Context) error {
		_, err := c.Read(ctx, "test://nothing-here")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "not found") {
			return fmt.Errorf("got %v", err)
		}
		_, err = c.Read(ctx, "test://empty") // and the session goes on
		return err
	})
	check("unknown cursor", c.Page != nil, func(ctx context.Context) error {
		if err := c.Page(ctx, "nonsense"); err == nil {
			return fmt.Errorf("it is taken for one")
		}
		return nil
	})
	check("updated", c.Subscribe != nil, func(ctx context.Context) error {
		if err := c.Subscribe(ctx, "test://watched-resource"); err != nil {
			return err
		}
		return c.repeat(ctx, "test://action/touch", func(ctx context.Context) error {
			return told(ctx, c.Updated, "test://watched-resource")
		})
	})
	check("list changed", c.ListChanged != nil, func(ctx context.Context) error {
		if c.Listen != nil {
			if err := c.Listen(ctx); err != nil {
				return err
			}
		}
		return c.repeat(ctx, "test://action/list-changed", func(ctx context.Context) error {
			return told(ctx, c.ListChanged, struct{}{})
		})
	})
	check("cancel", c.CancelByReads, func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		if _, err := c.Read(short, "test://fault/slow"); err == nil {
			return fmt.Errorf("it was read")
		}
		_, err := c.Read(ctx, "test://empty")
		return err
	})
	check("tools", c.Tools != nil, func(ctx context.Context) error {
		names, err := c.Tools(ctx)
		if slices.Sort(names); err == nil && !slices.Equal(names, []string{"list_resources", "read_resource"}) {
			err = fmt.Errorf("got %q", names)
		}
		return err
	})
	check("call a tool", c.Call != nil, func(ctx context.Context) error {
		got, err := c.Call(ctx, "read_resource", map[string]any{"uri": "test://static-text"})
		if err != nil {
			return err
		}
		said, err := json.Marshal(got)
		if err == nil && !strings.Contains(string(said), "content of the static text resource") {
			err = fmt.Errorf("got %.100s", said)
		}
		return err
	})
	check("close", c.Close != nil, func(context.Context) error { return c.Close() })
}

// repeat reads uri, which changes something, until the client is told: some clients subscribe without waiting until the
// server has acknowledged that.
func (c *Client) repeat(ctx context.Context, uri string, told func(context.Context) error) error {
	for {
		if _, err := c.Read(ctx, uri); err != nil {
			return err
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		err := told(soon)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// told waits for a notification.
func told[T comparable](ctx context.Context, from <-chan T, want T) error {
	for {
		select {
		case got := <-from:
			if got == want {
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("nothing was told")
		}
	}
}
