package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"

	"github.com/wasmres/wasmres/guest-sdk/go/redact"
)

// A format is one that settings are written in. redact reads a file and writes it again without comments and secrets.
type format struct {
	name, mime string
	redact     func(text []byte) ([]byte, error)
}

// formats has them by the ends of names.
var formats = map[string]format{
	".yml":  {"YAML", "application/yaml", redactYAML},
	".yaml": {"YAML", "application/yaml", redactYAML},
	".toml": {"TOML", "application/toml", redactTOML},
	".json": {"JSON", "application/json", redactJSON},
	".ini":  {"INI", "text/plain", redactINI},
}

// redactYAML keeps the order of keys. Anchors and aliases become what they stand for.
func redactYAML(text []byte) ([]byte, error) {
	var shown bytes.Buffer
	in, out := yaml.NewDecoder(bytes.NewReader(text), yaml.UseOrderedMap()), yaml.NewEncoder(&shown)
	for {
		var document any
		if err := in.Decode(&document); err == io.EOF {
			return shown.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		if err := out.Encode(redactTree(document)); err != nil {
			return nil, err
		}
	}
}

func redactTOML(text []byte) ([]byte, error) {
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	return toml.Marshal(redactTree(tree))
}

func redactJSON(text []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var tree any
	if err := in.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, errors.New("text after the value")
	}
	shown, err := json.MarshalIndent(redactTree(tree), "", "  ")
	return append(shown, '\n'), err
}

// redactINI reads lines such as "[section]" and "key = value". Those that begin with ; or # are comments. In a section
// whose name is that of a secret all values are secrets.
func redactINI(text []byte) ([]byte, error) {
	var shown []byte
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == ';' || line[0] == '#':
			continue
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				return nil, errors.New("a line is neither a section nor key = value")
			}
			key = strings.TrimSpace(key)
			line = key + " = " + redact.Value(section+"."+key, strings.TrimSpace(value))
		}
		shown = append(append(shown, line...), '\n')
	}
	return shown, nil
}
