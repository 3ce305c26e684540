package mcp

// LegacyInitialize returns text, an initialize request, for the legacy front: a request for the modern revision, or a later
// one, becomes one for the newest legacy revision. go-sdk would negotiate an older revision, but remember the requested one
// and treat the session as modern. Any other text is returned unchanged.
func LegacyInitialize(text []byte) []byte {
	changed := false
	out := replaceMember(text, "params", func(params []byte) []byte {
		return replaceMember(params, "protocolVersion", func(version []byte) []byte {
			if asked, ok := unquote(version); !ok || !Revision(asked).Modern() {
				return version
			}
			changed = true
			return []byte(`"` + Revision20251125 + `"`)
		})
	})
	if !changed {
		return text
	}
	return out
}

// replaceMember rewrites the members of an object with that name. Any other value is returned unchanged.
func replaceMember(object []byte, name string, replace func(value []byte) []byte) []byte {
	begin := space(object, 0)
	if !isObject(object[begin:]) {
		return object
	}
	b := []byte{'{'}
	end := eachField(object, begin, maxDepth, func(member, value []byte) {
		if string(fieldName(member)) == name {
			value = replace(value)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, member...)
		b = append(b, ':')
		b = append(b, value...)
	})
	if end < 0 {
		return object
	}
	return append(b, '}')
}
