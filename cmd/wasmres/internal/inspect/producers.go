package inspect

import (
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A producer is a language or tool that made the module, as its custom section producers claims.
type producer struct {
	Field   string `json:"field"` // language, processed-by or sdk
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// String removes the name from the version, as in "Go 1.26.8" for go1.26.8.
func (p producer) String() string {
	version := p.Version
	if n := len(p.Name); len(version) > n && strings.EqualFold(version[:n], p.Name) {
		version = version[n:]
	}
	return strings.TrimSpace(p.Name + " " + version)
}

const (
	producersSection = "producers"
	producerLanguage = "language"
	maxProducers     = 32
	maxProducerText  = 100 // characters
)

// addProducers reads the producers from the file.
func (i *inspection) addProducers(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	module, err := io.ReadAll(io.LimitReader(f, int64(i.Size)))
	if err != nil {
		return err
	}
	section, err := wasm.Custom(module, producersSection)
	if err != nil {
		return err
	}
	i.Producers = parseProducers(section)
	for _, p := range i.Producers {
		if p.Field == producerLanguage {
			i.Language = p.String()
			break
		}
	}
	return nil
}

// parseProducers reads the section up to the first mistake: its claims are information only.
func parseProducers(section []byte) (all []producer) {
	r := wasm.NewReader(section)
	for range r.U32() {
		field := string(r.Name())
		for range r.U32() {
			p := producer{Field: shortLine(field), Name: shortLine(string(r.Name())), Version: shortLine(string(r.Name()))}
			if r.Err() != nil || len(all) == maxProducers {
				return all
			}
			all = append(all, p)
		}
		if r.Err() != nil {
			return all
		}
	}
	return all
}

// shortLine returns a text of a module as one short line without control characters.
func shortLine(text string) string {
	return terminal.Clip(terminal.Cell(text[:min(len(text), 4*maxProducerText)]), maxProducerText)
}

// languageOf returns the language of an SDK; empty for an SDK that is not of this project.
func languageOf(sdk string) string {
	name, _, _ := strings.Cut(sdk, "/")
	l, err := project.ParseLanguage(name)
	if err != nil {
		return ""
	}
	return l.Title()
}
