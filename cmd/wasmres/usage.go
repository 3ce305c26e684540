package main

import (
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

// defaultFlagLine is how urfave/cli describes a flag, a tab between its names and its usage.
var defaultFlagLine = cli.FlagStringer

// flagLine leaves the copy of the names out that urfave/cli shows for flags that may be repeated: their usage says so.
func flagLine(f cli.Flag) string {
	names, usage, _ := strings.Cut(defaultFlagLine(f), "\t")
	names, _, _ = strings.Cut(names, " [ ")
	return names + "\t" + usage
}

// What the flag parser says, which gives no errors to tell apart.
var (
	unknownFlag = regexp.MustCompile(`^flag provided but not defined: -(.+)$`)
	missingFlag = regexp.MustCompile(`^flag needs an argument: -(.+)$`)
	badValue    = regexp.MustCompile(`(?s)^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^ :]+): `)
)

// onUsageError says in our words what the flag parser found wrong.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		return usagef(c, "there is no flag %s", dashed(m[1]))
	}
	if m := missingFlag.FindStringSubmatch(text); m != nil {
		return usagef(c, "%s: its value is missing", dashed(m[1]))
	}
	if m := badValue.FindStringSubmatch(text); m != nil {
		return usagef(c, "%s %s: write it as %s", dashed(m[2]), m[1], valueOf(c, m[2]))
	}
	return usagef(c, "%w", err)
}

// dashed writes a flag's name as people do.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// valueOf says what the values of a flag look like.
func valueOf(c *cli.Context, name string) string {
	for _, f := range c.Command.Flags {
		if f.Names()[0] != name {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "2s or 500ms"
		case *cli.IntFlag:
			return "a whole number"
		}
	}
	return "true or false"
}
