package cli

import (
	"github.com/wasmres/wasmres/internal/lazyregexp"
)

// The errors of the flag parser, which have no types.
var (
	unknownFlag = lazyregexp.New(`^flag provided but not defined: -(.+)$`)
	missingFlag = lazyregexp.New(`^flag needs an argument: -(.+)$`)
	badValue    = lazyregexp.New(`(?s)^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^ :]+): `)
)

// OnUsageError returns an error of the flag parser as a UsageError that says how to write the flag.
func OnUsageError(c *Context, err error, _ bool) error {
	text := err.Error()
	if m := unknownFlag.Get().FindStringSubmatch(text); m != nil {
		return Usagef(c, "there is no flag %s", dashed(m[1]))
	}
	if m := missingFlag.Get().FindStringSubmatch(text); m != nil {
		return Usagef(c, "%s: its value is missing", dashed(m[1]))
	}
	if m := badValue.Get().FindStringSubmatch(text); m != nil {
		return Usagef(c, "%s %s: write it as %s", dashed(m[2]), m[1], valueOf(c, m[2]))
	}
	return Usagef(c, "%w", err)
}

// dashed returns the name of a flag with its dashes.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// valueOf says how to write a value of a flag.
func valueOf(c *Context, name string) string {
	for _, f := range c.Command.Flags {
		if f.Names()[0] != name {
			continue
		}
		switch f.(type) {
		case *DurationFlag:
			return "2s or 500ms"
		case *IntFlag:
			return "a whole number"
		}
	}
	return "true or false"
}
