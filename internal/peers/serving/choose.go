package main

import "strings"

// choose gives those of all whose name one of the patterns, separated by commas, names; all of them without patterns.
func choose[T any](all []T, patterns string, name func(T) string) []T {
	if patterns == "" {
		return all
	}
	var chosen []T
	for _, x := range all {
		if matches(name(x), strings.Split(patterns, ",")) {
			chosen = append(chosen, x)
		}
	}
	return chosen
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		prefix, open := strings.CutSuffix(p, "*")
		if name == p || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
