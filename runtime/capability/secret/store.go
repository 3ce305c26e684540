package secret

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// maxName is the most bytes of a secret's name.
const maxName = 64

// A Store has secrets by name. It does not change. A nil Store has none.
type Store struct {
	values map[string]Value
}

// Open reads each secret from its source, once. It fails when a name is not valid (see [ValidName]), or when a source has
// no secret, an empty one, or one of more than 4 KiB.
func Open(sources map[string]Source) (*Store, error) {
	s := &Store{values: map[string]Value{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		value, err := read(name, sources[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("secret %.64q: %w", name, err))
			continue
		}
		s.values[name] = value
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func read(name string, source Source) (Value, error) {
	if !ValidName(name) {
		return Value{}, fmt.Errorf("invalid name: use 1 to %d letters, digits, \"_\", \"-\" and \".\"", maxName)
	}
	value, err := source.Secret()
	if err != nil {
		return Value{}, err
	}
	switch size := len(value.Reveal()); {
	case size == 0:
		return Value{}, errors.New("the secret is empty")
	case size > maxSize:
		return Value{}, fmt.Errorf("the secret has more than %d bytes", maxSize)
	}
	return value, nil
}

// Lookup returns the secret of a name, if there is one.
func (s *Store) Lookup(name string) (Value, bool) {
	if s == nil {
		return Value{}, false
	}
	value, ok := s.values[name]
	return value, ok
}

// Values returns all secrets, in no order.
func (s *Store) Values() []Value {
	if s == nil {
		return nil
	}
	return slices.Collect(maps.Values(s.values))
}

// ValidName reports whether name is valid for a secret: 1 to 64 ASCII letters, digits, "_", "-" and ".".
func ValidName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
