package httpcap

import "fmt"

// A denial says which rule refused a request: one of the grant, or one that holds for all.
type denial struct{ rule string }

func (d *denial) Error() string { return "refused by the rule " + d.rule }

func deny(format string, args ...any) error { return &denial{rule: fmt.Sprintf(format, args...)} }
