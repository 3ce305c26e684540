package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wasmres/wasmres/internal/peers/serving/fixture"
	"github.com/wasmres/wasmres/internal/peers/serving/load"
)

// check compares what a server answers with the fixtures.
func check(s *server, w workload) error {
	ask, end, err := s.caller()
	if err != nil {
		return err
	}
	defer end()
	if w.uri == "" {
		return checkList(ask)
	}
	want, _ := fixture.ByURI(w.uri)
	return checkRead(ask, want)
}

type contents struct {
	Result struct {
		Contents []struct {
			URI, MimeType, Text string
			Blob                []byte
		}
	}
}

func checkRead(ask caller, want fixture.Resource) error {
	b, err := ask.Call(load.Read(want.URI), nil)
	if err != nil {
		return err
	}
	var got contents
	if err := json.Unmarshal(b, &got); err != nil {
		return fmt.Errorf("read %s: %w", want.URI, err)
	}
	if len(got.Result.Contents) != 1 {
		return fmt.Errorf("read %s: %d contents in %.300s", want.URI, len(got.Result.Contents), b)
	}
	c := got.Result.Contents[0]
	data := c.Blob
	if !want.Binary {
		data = []byte(c.Text)
	}
	if c.URI != want.URI || c.MimeType != want.MIME || !bytes.Equal(data, want.Content()) {
		return fmt.Errorf("other contents than those of %s: %s %s, %d bytes", want.URI, c.URI, c.MimeType, len(data))
	}
	return nil
}

type entries struct {
	Result struct {
		Resources  []fixture.Entry
		NextCursor string
	}
}

// checkList compares the list with the fixtures'. Servers list in the order they like.
func checkList(ask caller) error {
	missing := make(map[fixture.Entry]bool)
	for _, r := range fixture.Fixed() {
		missing[fixture.Entry{URI: r.URI, Name: r.Name, MIME: r.MIME}] = true
	}
	for i := range fixture.Entries - len(missing) {
		missing[fixture.EntryAt(i)] = true
	}
	c := load.Call{Method: "resources/list"}
	for {
		b, err := ask.Call(c, nil)
		if err != nil {
			return err
		}
		var page entries
		if err := json.Unmarshal(b, &page); err != nil {
			return fmt.Errorf("list: %w", err)
		}
		for _, e := range page.Result.Resources {
			if !missing[e] {
				return fmt.Errorf("list: %+v is none of the fixtures, or listed twice", e)
			}
			delete(missing, e)
		}
		if page.Result.NextCursor == "" {
			break
		}
		c.Params = `{"cursor":"` + page.Result.NextCursor + `"}`
	}
	if len(missing) > 0 {
		return fmt.Errorf("list: %d of the fixtures are missing", len(missing))
	}
	return nil
}
