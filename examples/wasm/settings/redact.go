package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
)

const redacted = "[redacted]"

// redactTree replaces secrets in a tree of values: all that is below a key with the name of a secret, and texts that look
// like one.
func redactTree(v any) any {
	switch v := v.(type) {
	case string:
		return redactText(v, false)
	case []any:
		for i := range v {
			v[i] = redactTree(v[i])
		}
	case []map[string]any: // as package toml has them
		for i := range v {
			redactTree(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = redactValue(key, v[key])
		}
	case yaml.MapSlice:
		for i, item := range v {
			key, _ := item.Key.(string)
			v[i].Value = redactValue(key, item.Value)
		}
	}
	return v
}

func redactValue(key string, value any) any {
	if isSecret(key) {
		return redacted
	}
	return redactTree(value)
}

func redactText(text string, secret bool) string {
	if secret || slices.ContainsFunc(shapes, func(shape *regexp.Regexp) bool { return shape.MatchString(text) }) {
		return redacted
	}
	return text
}

// words are those that a secret's name has one of.
var words = []string{"password", "passwd", "passphrase", "pass", "pwd", "secret", "secrets", "token", "tokens", "key", "keys",
	"credential", "credentials", "auth", "authorization", "private", "dsn", "cookie", "salt", "passwords", "apikey", "pin"}

// isSecret reports whether a name says that its value is a secret: as DB_PASSWORD, apiKey or auth.
func isSecret(name string) bool {
	for _, word := range wordsOf(name) {
		if slices.Contains(words, word) || strings.Contains(word, "password") || strings.Contains(word, "secret") ||
			strings.Contains(word, "token") {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a name in lower case: those of apiKey and API_KEY are api and key.
func wordsOf(name string) []string {
	var spaced strings.Builder
	before := rune(0)
	for _, c := range name {
		if unicode.IsUpper(c) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		before = c
		spaced.WriteRune(unicode.ToLower(c))
	}
	return strings.FieldsFunc(spaced.String(), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// shapes are those of texts with a secret in them, whatever their name is.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^/?#\s]*@`),                                       // a URL with a user
	regexp.MustCompile(`(?i)(pass|passwd|password|pwd|secret|token|key|sig|signature)\s*[=:]`), // a connection string, a query
	regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9+/_.~=-]{4,}`),                           // Authorization
	regexp.MustCompile(`-----BEGIN [A-Z ]*-----`),                                              // PEM
	regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|sk_|rk_|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_-]{8,}`),
}
