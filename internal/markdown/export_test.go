package markdown

// Sanitize sanitises HTML of any origin, as HTML does with that of the renderer.
func Sanitize(text []byte) []byte { return sanitize(text) }
