package httpcap

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A placeholder is written {{secret:NAME}}.
const (
	placeholderBegin = "{{secret:"
	placeholderEnd   = "}}"
)

// cutPlaceholder finds the first placeholder of a value.
func cutPlaceholder(value string) (before, name, after string, found bool, err error) {
	before, rest, found := strings.Cut(value, placeholderBegin)
	if !found {
		return value, "", "", false, nil
	}
	name, after, closed := strings.Cut(rest, placeholderEnd)
	if !closed || !secret.ValidName(name) {
		return "", "", "", false, abi.Errorf(abi.CodeInvalidParams, "write a secret as {{secret:NAME}}")
	}
	return before, name, after, true, nil
}

func hasPlaceholder(value string) bool { return strings.Contains(value, placeholderBegin) }

func anyPlaceholder(header http.Header) bool {
	for _, values := range header {
		if slices.ContainsFunc(values, hasPlaceholder) {
			return true
		}
	}
	return false
}

// checkPlaceholders refuses placeholders outside of header values.
func checkPlaceholders(req *abi.HTTPRequest) error {
	if hasPlaceholder(unescape(req.URL)) || bytes.Contains(req.Body, []byte(placeholderBegin)) {
		return abi.Errorf(abi.CodeInvalidParams, "secrets may only be in the values of header fields")
	}
	return nil
}

// fill puts the secrets of a rule into a value. The error does not tell a missing secret from one that is not granted.
func (c *rule) fill(value string) (string, error) {
	var b strings.Builder
	for {
		before, name, after, found, err := cutPlaceholder(value)
		if err != nil {
			return "", err
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		text, granted := c.secrets[name]
		if !granted {
			return "", denied("secret: not named by %s", c.text)
		}
		b.WriteString(text.Reveal())
		value = after
	}
}

// bindHeader returns the header that is sent to a host of the rule, and whether it has a secret. A header without
// placeholders is returned as it is. Fields with secrets that are not for this host are an error, or, unless strict, as
// after a redirect, left out.
func (c *rule) bindHeader(header http.Header, strict bool) (bound http.Header, secrets bool, err error) {
	if !anyPlaceholder(header) {
		return header, false, nil
	}
	bound = make(http.Header, len(header))
	for name, values := range header {
		for _, value := range values {
			if !hasPlaceholder(value) {
				bound[name] = append(bound[name], value)
				continue
			}
			filled, err := c.fill(value)
			if err != nil && strict {
				return nil, false, err
			}
			if err == nil {
				bound[name] = append(bound[name], filled)
				secrets = true
			}
		}
	}
	return bound, secrets, nil
}
