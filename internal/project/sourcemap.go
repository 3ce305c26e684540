package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Bounds of a source map.
const (
	maxMapBytes    = 64 << 20
	maxMapSources  = 20_000
	maxMapMappings = 2 << 20
	maxMapNumber   = 1 << 28 // a line or a column
)

// A sourceMap says from which places of which files a bundle was made.
type sourceMap struct {
	sources []string
	lines   [][]mapping // of the bundle
}

// A mapping is the place in a source of a column of the bundle. All numbers begin at 0.
type mapping struct{ column, source, line, sourceColumn int }

// readSourceMap decodes a source map of version 3, as esbuild writes it: without sections. It drops what has no
// source.
func readSourceMap(text []byte) (*sourceMap, error) {
	var file struct {
		Version  int
		Sources  []string
		Mappings string
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	if file.Version != 3 {
		return nil, fmt.Errorf("source map: version %d is unknown, only 3 is known", file.Version)
	}
	if len(file.Sources) > maxMapSources {
		return nil, fmt.Errorf("source map: %d sources are too many, at most %d are read", len(file.Sources), maxMapSources)
	}
	m := &sourceMap{sources: file.Sources}
	var at mapping
	count := 0
	for line := range strings.SplitSeq(file.Mappings, ";") {
		at.column = 0
		mappings, err := readLine(line, &at, len(m.sources))
		if err != nil {
			return nil, fmt.Errorf("source map: line %d: %w", len(m.lines)+1, err)
		}
		if count += len(mappings); count > maxMapMappings {
			return nil, fmt.Errorf("source map: more than %d mappings are too many", maxMapMappings)
		}
		m.lines = append(m.lines, mappings)
	}
	return m, nil
}

// readLine decodes the mappings of one line. at is the mapping before, to which the first one is relative.
func readLine(line string, at *mapping, sources int) (all []mapping, err error) {
	if line == "" {
		return nil, nil
	}
	for segment := range strings.SplitSeq(line, ",") {
		numbers, count, err := readSegment(segment)
		if err != nil {
			return nil, err
		}
		at.column += numbers[0]
		if count == 1 && inMap(at.column) { // a column of no source
			continue
		}
		at.source += numbers[1]
		at.line += numbers[2]
		at.sourceColumn += numbers[3]
		if at.source >= sources || !inMap(at.column) || !inMap(at.source) || !inMap(at.line) || !inMap(at.sourceColumn) {
			return nil, fmt.Errorf("the segment %.20q leads to no place", segment)
		}
		all = append(all, *at)
	}
	return all, nil
}

func inMap(n int) bool { return n >= 0 && n < maxMapNumber }

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var errSegment = errors.New("a segment is not of one, four or five numbers in Base64 VLQ")

// readSegment decodes numbers in Base64 VLQ: digits of 5 bits, the lowest first, of which the sixth bit says that more
// follow, and the lowest bit of the number is its sign. The fifth number, of a name, is dropped.
func readSegment(segment string) (numbers [5]int, count int, err error) {
	shift := 0
	for i := range len(segment) {
		bits := strings.IndexByte(base64Digits, segment[i])
		if bits < 0 || shift > 25 || count == len(numbers) {
			return numbers, 0, errSegment
		}
		numbers[count] |= bits & 31 << shift
		if shift += 5; bits&32 != 0 {
			continue
		}
		if numbers[count]&1 != 0 {
			numbers[count] = -numbers[count]
		}
		numbers[count] /= 2
		count, shift = count+1, 0
	}
	if count != 1 && count < 4 || shift > 0 {
		return numbers, 0, errSegment
	}
	return numbers, count, nil
}

func appendVLQ(b []byte, n int) []byte {
	bits := n << 1
	if n < 0 {
		bits = -n<<1 | 1
	}
	for ; bits > 31; bits >>= 5 {
		b = append(b, base64Digits[bits&31|32])
	}
	return append(b, base64Digits[bits])
}

// script returns the module of the SDK that has the map: see guest-sdk/javascript/lib/sourcemap.js. Files of packages
// have lines only, which is a twentieth of their columns.
func (m *sourceMap) script(names []string) string {
	var text strings.Builder
	var before mapping // of the last line
	for i, line := range m.lines {
		if i > 0 {
			text.WriteByte(';')
			before.line++
		}
		if len(line) > 0 && isPackage(names[line[0].source]) {
			if line = line[:1]; line[0].source == before.source && line[0].line == before.line {
				continue
			}
		}
		writeLine(&text, line)
		if len(line) > 0 {
			before = line[len(line)-1]
		}
	}
	list, _ := json.Marshal(names) // does not fail: strings
	return fmt.Sprintf("export const sources = %s;\nexport const mappings = %q;\n", list, text.String())
}

func writeLine(text *strings.Builder, line []mapping) {
	var at mapping
	for i, m := range line {
		if i > 0 {
			text.WriteByte(',')
		}
		segment := appendVLQ(appendVLQ(nil, m.column-at.column), m.source-at.source)
		text.Write(appendVLQ(appendVLQ(segment, m.line-at.line), m.sourceColumn-at.sourceColumn))
		at = m
	}
}

// sdkScheme begins the names of the SDK's own modules. The engine passes over their places where it names one.
const sdkScheme = "wasmres:/"

// isPackage reports whether a file is of a package that the project uses, or of the SDK.
func isPackage(name string) bool {
	return strings.HasPrefix(name, nodeModules+"/") || strings.HasPrefix(name, sdkScheme)
}

// names returns the sources as people know them: relative to the project, those of packages from node_modules on,
// and those of the SDK as its modules.
// from is the directory of the bundle, to which the sources in the map are relative.
func (m *sourceMap) names(from, project string) []string {
	names := make([]string, len(m.sources))
	for i, source := range m.sources {
		file := filepath.Join(from, filepath.FromSlash(source))
		name := filepath.ToSlash(file)
		if relative, err := filepath.Rel(project, file); err == nil {
			name = path.Clean(filepath.ToSlash(relative))
		}
		if at := strings.LastIndex(name, nodeModules+"/"); at >= 0 {
			name = name[at:]
		} else if file, ok := strings.CutPrefix(name, sdkDir+"/"); ok {
			name = sdkScheme + file
		}
		names[i] = name
	}
	return names
}
