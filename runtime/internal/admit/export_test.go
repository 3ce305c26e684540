package admit

// Validate is [Check] without the boundary: what a module imports and exports may be anything valid. The core
// specification's own tests import tables, memories and globals.
func Validate(module []byte, cfg Config) (*Report, error) { return check(module, cfg, false) }
