package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// checks are the columns, in the order in which clients are checked.
var checks = []string{
	"connect", "list", "templates", "read text", "read bytes", "read by template", "read other scripts", "complete", "not found",
	"unknown cursor", "updated", "list changed", "cancel", "tools", "call a tool", "close",
}

const head = `# Clients

What works with which client. This page is written by ` + "`make compatibility`" + `, which installs the clients, serves the example
` + "`everything`" + ` with ` + "`--tools`" + `, and has each client do what its API offers; it was last run on %s.

✓ works · – the client has no call for it · a number: does not work, and why is said below

`

// render returns the page.
func render(rows []row, at time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, head, at.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "| client | transport | revision | %s |\n", strings.Join(checks, " | "))
	fmt.Fprintf(&b, "|---|---|---|%s\n", strings.Repeat("---|", len(checks)))
	var failures []string
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |", r.client.name, r.transport, r.revision)
		for _, c := range checks {
			fmt.Fprintf(&b, " %s |", r.cell(c, &failures))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for i, f := range failures {
		fmt.Fprintf(&b, "%d. %s\n", i+1, f)
	}
	if len(failures) == 0 {
		b.WriteString("Nothing failed.\n")
	}
	b.WriteString("\nOf some clients:\n\n")
	for _, c := range clients {
		if c.note != "" {
			fmt.Fprintf(&b, "- **%s**: %s\n", c.name, c.note)
		}
	}
	return b.Bytes()
}

// cell is what the table says of one check. A failure is added to those that are explained, unless it is there.
func (r row) cell(check string, failures *[]string) string {
	at := slices.IndexFunc(r.results, func(x result) bool { return x.Check == check })
	if at < 0 {
		return "–"
	}
	switch x := r.results[at]; x.Result {
	case "ok":
		return "✓"
	case "-":
		return "–"
	default:
		why := "**" + r.client.name + "**, " + check + ": "
		if fault := r.client.faults[check]; fault != "" {
			why += "a fault of the client: " + fault + "."
		} else {
			why += "not explained yet: " + x.Why
		}
		n := slices.Index(*failures, why)
		if n < 0 {
			*failures = append(*failures, why)
			n = len(*failures) - 1
		}
		return fmt.Sprint(n + 1)
	}
}
