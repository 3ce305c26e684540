package wasm

import "strings"

// Strip returns a copy of a module without the custom sections that only tools read: names, debugging, linking.
func Strip(module []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(module)), header...)
	for s, err := range Sections(module) {
		if err != nil {
			return nil, err
		}
		if s.ID != SectionCustom || !isForTools(string(s.Reader().Name())) {
			out = append(out, s.Raw...)
		}
	}
	return out, nil
}

// isForTools reports whether a custom section of this name is for linkers, debuggers or people.
func isForTools(name string) bool {
	switch name {
	case nameSection, "producers", "target_features", "linking", "go:buildid", "sourceMappingURL", "external_debug_info",
		"build_id":
		return true
	}
	return strings.HasPrefix(name, ".debug") || strings.HasPrefix(name, "reloc.")
}
