package ledger

// ParseLine reads a line without its "\n", for fuzzing.
func ParseLine(text []byte) (*Line, error) { return parseLine(text) }

// AppendLine writes a line.
func AppendLine(to []byte, l *Line) []byte { return appendLine(to, l) }
