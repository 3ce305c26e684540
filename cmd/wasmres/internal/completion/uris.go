package completion

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
)

const (
	maxURIs  = 200             // that a shell gets
	patience = 2 * time.Second // with a provider, as the user waits at a prompt
)

// uris offers the templates of the provider on the command line or, if also resources are wanted, their URIs and the
// beginnings of templates. A provider that does not answer soon has none.
func (l *line) uris(ctx context.Context, resources bool) offer {
	o := offer{besides: nothing}
	if len(l.args) == 0 || !strings.HasSuffix(l.args[0], ".wasm") {
		return o // that of a registry might have to be fetched first
	}
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	if resources {
		for _, r := range l.ask(ctx, "list").Resources {
			o.add(l.word, r.URI, r.Name)
		}
	}
	for _, t := range l.ask(ctx, "templates").ResourceTemplates {
		text := t.URITemplate
		if resources {
			text, _, _ = strings.Cut(text, "{")
		}
		o.add(l.word, text, t.Name)
	}
	o.words = slices.CompactFunc(o.words, func(a, b candidate) bool { return a.text == b.text })
	o.words = o.words[:min(len(o.words), maxURIs)]
	return o
}

// A listing is what the commands list and templates print.
type listing struct {
	Resources         []struct{ URI, Name string }
	ResourceTemplates []struct{ URITemplate, Name string }
}

// ask runs a command that lists, with the flags of the command line that it knows; an empty listing if it fails.
func (l *line) ask(ctx context.Context, command string) (all listing) {
	args := append([]string{"wasmres", command}, l.known(l.program.Find(command))...)
	args = append(args, "--log-level=error", "--output-format=json", "--", l.args[0])
	var out, errOut bytes.Buffer
	if err := cli.Run(ctx, l.newApp(strings.NewReader(""), &out, &errOut), args); err != nil {
		return listing{}
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		return listing{}
	}
	return all
}

// known returns the flags of the command line that are the same for all commands that open a provider, with their values.
func (l *line) known(command *cli.Tree) (flags []string) {
	for i := 0; i < len(l.flags); i++ {
		f := l.flag(l.flags[i])
		if f == nil {
			continue
		}
		n := 1
		if f.Value != "" && !strings.Contains(l.flags[i], "=") {
			n = 2
		}
		isShared := slices.ContainsFunc(command.Flags, func(other cli.FlagInfo) bool { return other.Name == f.Name && other.Group != "" })
		if isShared && i+n <= len(l.flags) {
			flags = append(flags, l.flags[i:i+n]...)
		}
		i += n - 1
	}
	return flags
}
