package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
)

const (
	maxFindings = 20  // of one rule that are kept
	maxPlace    = 256 // characters of Where
	maxProblem  = 400 // characters
)

// A Finding is one rule broken in one place. No text in it has control or format characters.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Where    string   `json:"where"`          // a URI, a URI template, or the part of the provider
	Problem  string   `json:"problem"`        // what was expected and what was found
	Code     string   `json:"code,omitempty"` // outcome of the call that failed, as abi.Code names it
	Advice   string   `json:"advice"`
}

// An Unsampled is a template of which no resource was read.
type Unsampled struct {
	Template string `json:"uriTemplate"`
	Why      string `json:"why"`
}

// A Report is what a check found.
type Report struct {
	Listed    int            `json:"listed"`    // resources
	Read      int            `json:"read"`      // of them, and of templates
	Templates int            `json:"templates"` // declared
	Errors    int            `json:"errors"`    // findings, those left out included
	Warnings  int            `json:"warnings"`  // findings, those left out included
	Findings  []Finding      `json:"findings"`  // errors first, by rule
	Omitted   map[string]int `json:"omitted"`   // findings left out, by rule, where there are more than 20
	Unsampled []Unsampled    `json:"unsampled"`
}

// add notes that a rule is broken.
func (r *Report) add(rule, where, format string, args ...any) {
	r.note(Finding{Rule: rule, Where: where, Problem: fmt.Sprintf(format, args...)})
}

// addFailure notes that a rule is broken because a call has failed.
func (r *Report) addFailure(rule, where, what string, err error) {
	r.note(Finding{Rule: rule, Where: where, Problem: what + ": " + said(err), Code: abi.CodeOf(err).String()})
}

func (r *Report) note(f Finding) {
	is := rules[rank(f.Rule)]
	f.Severity, f.Advice = is.Severity, is.Advice
	f.Where, f.Problem = line(f.Where, maxPlace), line(f.Problem, maxProblem)
	if slices.Contains(r.Findings, f) {
		return
	}
	if f.Severity == Error {
		r.Errors++
	} else {
		r.Warnings++
	}
	same := 0
	for i := range r.Findings {
		if r.Findings[i].Rule == f.Rule {
			same++
		}
	}
	if same == maxFindings {
		r.Omitted[f.Rule]++
		return
	}
	r.Findings = append(r.Findings, f)
}

// sort puts the findings in the order of the rules.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(rank(a.Rule), rank(b.Rule)) })
}

// said gives a failure's public words after the name of its class.
func said(err error) string {
	code, text := abi.CodeOf(err).String(), publicText(err)
	if text == "" || text == code {
		return code
	}
	return code + ", " + text
}

// line gives a provider's text as one line of at most limit characters that cannot steer a terminal.
func line(s string, limit int) string {
	runes := []rune(printable.Line(s[:min(len(s), 4*limit)]))
	if len(runes) > limit || len(s) > 4*limit {
		return string(runes[:min(len(runes), limit-1)]) + "…"
	}
	return string(runes)
}
