package httpcap

import "fmt"

// A deniedError names the rule that refused a request: one of the grant, or a built-in one.
type deniedError struct{ rule string }

func (d *deniedError) Error() string { return "refused by the rule " + d.rule }

func denied(format string, args ...any) error {
	return &deniedError{rule: fmt.Sprintf(format, args...)}
}
