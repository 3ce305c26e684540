// Memory explains words, and serves what clients write to a folder. Where the operator wants that, it remembers which words
// were looked up: how often, on which days, and which ones last.
package main

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// watchEvery is how often values somebody follows are looked at: other processes may change them too.
const watchEvery = 2 * time.Second

// contextURI is what the URIs of values begin with.
const contextURI = "memory://context/"

func init() {
	wasmres.Provider("memory", "1.0.0").
		Title("Memory").
		Describe("Explains words of MCP, and serves what clients remember.").
		Prefixes("memory://").
		ConfigSchema(`{"type":"object","properties":{"` + countLookups + `":{"type":"string","enum":["true","false"],` +
			`"description":"whether a read of a word is counted, which makes it a write: false if nothing is said"}}}`)
	wasmres.Ask("kv", "remembers which words were looked up, and how often").Optional()
	wasmres.Ask("fs", "serves files that clients write to "+folder+", as conversation_history.md").Optional().
		Params(`{"paths":["` + folder + `"],"access":["read"]}`)

	wasmres.Template("memory://word/{word}", explain).
		Name("word").Describe("What a word means.").MIME("text/plain").
		CompleteFrom("word", words()...)
	wasmres.Template(contextURI+"{+key}", recall).
		Name("context").Describe("Something remembered, as lookups, recent or days/2026-11-22.").
		Complete("key", completeKey).Watch(watchEvery, version)
	wasmres.List(list)
}

// countLookups is the configuration value by which an operator has lookups counted. Nothing is written without it: a read
// has no effects unless the operator asked for them.
const countLookups = "count_lookups"

// explain answers with the meaning of a word. It does so even where nothing can be remembered.
func explain(r *wasmres.Request) (string, error) {
	word := r.Var("word")
	meaning, ok := glossary[word]
	if !ok {
		return "", wasmres.NotFound("there is no word " + strconv.Quote(word))
	}
	if counted, _ := r.Config(countLookups); counted != "true" {
		return meaning + "\n", nil
	}
	if err := remember(r, word); err != nil && !errors.Is(err, wasmres.ErrDenied) {
		r.Warn("the lookup of " + word + " is not remembered: " + err.Error())
	}
	return meaning + "\n", nil
}

// recall answers with a file, or with a value.
func recall(r *wasmres.Request) (wasmres.Content, error) {
	if f, ok, err := fileOf(r.Var("key")); ok || err != nil {
		if err != nil {
			return wasmres.Content{}, err
		}
		return f.content()
	}
	value, entry, err := wasmres.KV().GetEntry(r.Var("key"))
	if err != nil {
		return wasmres.Content{}, worded(r.Var("key"), err)
	}
	return wasmres.Text(string(value)).MIME("text/plain").ETag(etag(entry)), nil
}

// version tells whether a file or a value has changed. One that is not there may come yet.
func version(r *wasmres.Request) (string, error) {
	if f, ok, err := fileOf(r.Var("key")); ok || err != nil {
		if err != nil {
			return "", err
		}
		return f.etag(), nil
	}
	_, entry, err := wasmres.KV().GetEntry(r.Var("key"))
	if err = worded(r.Var("key"), err); err != nil && !errors.Is(err, wasmres.ErrNotFound) {
		return "", err
	}
	return etag(entry), nil
}

func etag(e wasmres.KVEntry) string { return strconv.FormatUint(e.Version, 36) }

// worded says what went wrong with a value, for the client.
func worded(key string, err error) error {
	switch {
	case errors.Is(err, wasmres.ErrNotFound), errors.Is(err, wasmres.ErrDenied) && isGranted():
		return wasmres.NotFound("nothing is remembered as " + strconv.Quote(key))
	case errors.Is(err, wasmres.ErrDenied):
		return wasmres.Denied("nothing is remembered: has a key-value store been granted, as with --kv, or a folder, as with --dir FOLDER:" + folder + "?")
	}
	return err
}

// list lists the files, then the values that have no file's key. The cursor is the last one listed, so that no page
// depends on the ones before it.
func list(_ *wasmres.Request, page *wasmres.Page) error {
	found, err := files("")
	if err != nil || !listFiles(page, found) {
		return err
	}
	last := page.Cursor()
	if last == valuesCursor || strings.HasPrefix(last, fileCursor) {
		last = ""
	}
	for entry, err := range wasmres.KV().KeysAfter("", last) {
		if errors.Is(err, wasmres.ErrDenied) {
			return nil
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(f file) bool { return f.key() == entry.Key }) {
			continue
		}
		if !page.Add(wasmres.Entry{URI: contextURI + entry.Key, Name: entry.Key, MIME: "text/plain", Size: entry.Size}) {
			page.Next(cmp.Or(last, valuesCursor))
			return nil
		}
		last = entry.Key
	}
	return nil
}

// completeKey suggests keys, as many as clients get.
func completeKey(_ *wasmres.Request, prefix string) ([]string, error) {
	const most = 100
	var keys []string
	found, err := files(prefix)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		keys = append(keys, f.key())
	}
	for entry, err := range wasmres.KV().Keys(prefix) {
		if errors.Is(err, wasmres.ErrDenied) {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		if keys = append(keys, entry.Key); len(keys) >= most {
			break
		}
	}
	return keys, nil
}

func main() {}
