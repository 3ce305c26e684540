// Package serverjson writes the server.json with which an author lists a provider in the public MCP registry.
//
// The registry has no packages of WebAssembly. A provider is listed by the URL of a server that hosts it, or by a package of
// wasmres with the provider in it: an image, or an MCPB bundle. The reference of the provider itself is part of the
// metadata, where programs that know wasmres find it.
package serverjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/lazyregexp"
)

// Schema is the address of the schema that a Listing follows.
const Schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// Bounds of the schema and of the official registry.
const (
	maxText     = 100  // characters of a title or description
	maxVersion  = 255  // bytes
	maxName     = 200  // bytes
	maxProvided = 4096 // bytes of the metadata that a publisher adds
)

// A Listing is what the registry is told of a provider. Name, Description and Version are required, and so is one of
// Remote, Image and Bundle.
type Listing struct {
	Name        string // as in io.github.ada/notes
	Title       string
	Description string // at most 100 characters; Marshal shortens a longer one
	Version     string
	Website     string // URL
	Repository  string // URL of the sources
	Remote      string // URL of a server that hosts the provider; it may have variables, as in https://{tenant}.example.com/mcp
	Image       string // reference of a container image with wasmres and the provider
	Bundle      Bundle
	Provider    Provider
}

// A Bundle is an MCPB file that clients download. The zero value is none.
type Bundle struct {
	URL    string
	SHA256 string // 64 hexadecimal digits
}

// A Provider identifies the module for programs that know wasmres.
type Provider struct {
	Reference string `json:"reference"` // with the digest of its manifest
	ABI       int    `json:"abi"`
	Digest    string `json:"digest"`        // of the module
	Key       string `json:"key,omitempty"` // identity of the key that signs it
}

var (
	nameForm   = lazyregexp.New(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	digestForm = lazyregexp.New(`^[a-f0-9]{64}$`)
	variable   = lazyregexp.New(`\{([a-zA-Z0-9_]+)\}`)
	rangeForm  = lazyregexp.New(`^[\^~<>=]|(^|\.)[xX*](\.|$)| - |\|\|`)
)

// Marshal returns the server.json, indented.
func (l Listing) Marshal() ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("server.json: %w", err)
	}
	provided := map[string]any{"dev.wasmres/provider": l.Provider}
	size, err := json.Marshal(provided)
	if err != nil {
		return nil, err
	}
	if len(size) > maxProvided {
		return nil, fmt.Errorf("server.json: the metadata about the provider has %d bytes, the registry accepts %d", len(size), maxProvided)
	}
	doc := document{
		Schema: Schema, Name: l.Name, Title: shorten(l.Title), Description: shorten(l.Description), Version: l.Version,
		Website: l.Website, Repository: repositoryOf(l.Repository), Packages: l.packages(), Remotes: l.remotes(),
		Meta: map[string]any{"io.modelcontextprotocol.registry/publisher-provided": provided},
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

func (l Listing) check() error {
	var errs []error
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	say(len(l.Name) > maxName || !nameForm.MatchString(l.Name),
		"name %q is not a reversed domain, a slash and a name: write it as in io.github.ada/notes", l.Name)
	say(strings.TrimSpace(l.Description) == "", "the provider has no description: give it one")
	say(l.Version == "" || l.Version == "latest" || len(l.Version) > maxVersion || rangeForm.MatchString(l.Version),
		"version %q is not that of one release: write it as in 1.2.0", l.Version)
	say(l.Remote == "" && l.Image == "" && l.Bundle.URL == "", "there is nothing that a client can use: name a server, an image or a bundle")
	say(l.Bundle.URL != "" && !digestForm.MatchString(l.Bundle.SHA256), "the bundle has no SHA-256")
	for _, link := range []string{l.Website, l.Repository, l.Bundle.URL, variable.Get().ReplaceAllString(l.Remote, "x")} {
		if link == "" {
			continue
		}
		u, err := url.Parse(link)
		say(err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(link, " \t\r\n"), "%q is not a URL of HTTP", link)
	}
	return errors.Join(errs...)
}

// shorten cuts a text to one line of at most maxText characters.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxText-1])) + "…"
}

type document struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	Website     string         `json:"websiteUrl,omitempty"`
	Repository  *repository    `json:"repository,omitempty"`
	Packages    []pkg          `json:"packages,omitempty"`
	Remotes     []transport    `json:"remotes,omitempty"`
	Meta        map[string]any `json:"_meta"`
}

type repository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type pkg struct {
	Type       string    `json:"registryType"`
	Identifier string    `json:"identifier"`
	Version    string    `json:"version,omitempty"`
	SHA256     string    `json:"fileSha256,omitempty"`
	Transport  transport `json:"transport"`
}

type transport struct {
	Type      string           `json:"type"`
	URL       string           `json:"url,omitempty"`
	Variables map[string]input `json:"variables,omitempty"`
}

type input struct {
	Required bool `json:"isRequired"`
}

// repositoryOf returns the repository of a URL, with the name of its host as the registry knows it.
func repositoryOf(link string) *repository {
	if link == "" {
		return nil
	}
	u, err := url.Parse(link)
	if err != nil {
		return nil
	}
	source := strings.TrimPrefix(u.Hostname(), "www.")
	return &repository{URL: link, Source: strings.TrimSuffix(source, ".com")}
}

// packages returns the packages with wasmres and the provider. The registry wants the version of an image in its
// reference only.
func (l Listing) packages() (all []pkg) {
	stdio := transport{Type: "stdio"}
	if l.Image != "" {
		all = append(all, pkg{Type: "oci", Identifier: l.Image, Transport: stdio})
	}
	if l.Bundle.URL != "" {
		all = append(all, pkg{Type: "mcpb", Identifier: l.Bundle.URL, Version: l.Version, SHA256: l.Bundle.SHA256, Transport: stdio})
	}
	return all
}

func (l Listing) remotes() []transport {
	if l.Remote == "" {
		return nil
	}
	remote := transport{Type: "streamable-http", URL: l.Remote}
	for _, found := range variable.Get().FindAllStringSubmatch(l.Remote, -1) {
		if remote.Variables == nil {
			remote.Variables = map[string]input{}
		}
		remote.Variables[found[1]] = input{Required: true}
	}
	return []transport{remote}
}
