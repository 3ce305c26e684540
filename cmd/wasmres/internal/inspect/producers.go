package inspect

import (
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A producer is a language or a tool the module is said to be made with, as its custom section producers has it.
type producer struct {
	Field   string `json:"field"` // language, processed-by or sdk
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// String leaves the name out of the version, as in "Go 1.26.8" for go1.26.8.
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
	maxProducers     = 32  // that are kept
	maxProducerText  = 100 // characters
)

// addProducers looks into the file for who made the module.
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

// parseProducers reads the section as far as it can be read: it is for people, and says nothing that must be true.
func parseProducers(section []byte) (all []producer) {
	r := wasm.NewReader(section)
	for range r.U32() {
		field := string(r.Name())
		for range r.U32() {
			p := producer{Field: shown(field), Name: shown(string(r.Name())), Version: shown(string(r.Name()))}
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

// shown makes a short line of a text from a module, that cannot steer a terminal.
func shown(text string) string {
	return terminal.Clip(terminal.Cell(text[:min(len(text), 4*maxProducerText)]), maxProducerText)
}

// languageOf gives the language of an SDK; empty when it is not one of ours.
func languageOf(sdk string) string {
	name, _, _ := strings.Cut(sdk, "/")
	l, err := project.ParseLanguage(name)
	if err != nil {
		return ""
	}
	return l.Title()
}
