package oauth

import "net/http"

// SetTransport has a new Verifier send all requests by rt.
func SetTransport(v *Verifier, rt http.RoundTripper) { v.any.Transport = rt }

// ParseKeySet counts the keys of a set.
func ParseKeySet(text []byte) (int, error) {
	s, err := parseKeySet(text)
	if err != nil {
		return 0, err
	}
	return len(s.all), nil
}

// ParseMetadata returns the URLs in the metadata of an issuer.
func ParseMetadata(i *Issuer, text []byte) (keys, introspection string, err error) {
	m, err := i.parseMetadata(text)
	if err != nil {
		return "", "", err
	}
	return m.Keys, m.Introspection, nil
}

// Members returns the members of a JSON object by their names; ok is false for anything else.
func Members(text []byte) (values map[string]string, ok bool) {
	all, ok := membersOf(text)
	values = map[string]string{}
	for _, m := range all {
		values[string(m.name)] = string(all.get(string(m.name)))
	}
	return values, ok
}

// ParseIntrospection reads what an issuer says of a token.
func ParseIntrospection(text []byte) (*Claims, error) { return parseIntrospection(text) }
