package viewer

// Markdown renders Markdown of a resource.
func Markdown(text, uri string) string {
	return string((&Server{root: "/root"}).markdown([]byte(text), uri))
}

// NameOf returns a name for the file of a resource.
func NameOf(uri string) string { return nameOf(uri) }
