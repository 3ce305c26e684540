// Package strict reads configuration files in YAML into structs, writes them, and describes them by a JSON Schema, all
// by the tags of the struct's fields:
//
//	type Server struct {
//		Name   string   `yaml:"name,required" check:"name" doc:"the name of the server"`
//		Ports  []uint16 `yaml:"ports,nonempty" check:"port" doc:"443 by default"`
//		Users  []User   `yaml:"users" unique:"Name"`
//		Labels map[string]string `yaml:"labels" keys:"name" check:"text"`
//	}
//
// The tag yaml names the key in the file; a field without it is not in the file. Its option required demands the key,
// and nonempty refuses an empty list. The tag check names the [Rule], in [Format.Rules], of the value, or of each entry
// of a list or mapping; keys names the rule of each key of a mapping. The tag unique names the field of the entries of
// a list in which no two entries may be equal. The tag doc is the description in the JSON Schema.
//
// A field is a struct, a pointer to one (nil when the key is absent), a slice, a map with strings for keys, a bool, a
// string, or of any type for which check names a rule. Other types panic, and no type may contain itself. A type that
// implements [Validator] is checked after it has been read, and a [Converter] has another type in the file.
//
// Reading is strict. These are problems, each reported with its line and column:
//   - a key that is unknown, twice in a mapping, or missing though required; for a misspelt key the problem names the
//     right one
//   - a value of another kind, as a number where a text is expected, and null
//   - an anchor, alias, merge key, tag or directive, and a second document
//   - a file of more than [MaxSize] bytes or 20,000 tokens, nested deeper than 32 brackets or indented by more than 100
//     columns; these bounds hold before the parser runs, whose time and stack grow with them
//   - a list or mapping of more than [MaxEntries] entries
package strict
