package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/printable"
)

const (
	maxFindings = 20  // of one rule in a report
	maxWhere    = 256 // characters of Where
	maxProblem  = 400 // characters
)

// A Finding is one violation of a rule. Its texts have no control or format characters.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Where    string   `json:"where"`          // a URI, a URI template, or the part of the provider
	Problem  string   `json:"problem"`        // what was expected and what was found
	Code     string   `json:"code,omitempty"` // name of the abi.Code of a failed call
	Advice   string   `json:"advice"`
}

// An Unsampled is a template of which no resource was read.
type Unsampled struct {
	Template string `json:"uriTemplate"`
	Why      string `json:"why"`
}

// A Report is the result of a check.
type Report struct {
	Listed    int `json:"listed"`    // resources
	Read      int `json:"read"`      // resources, listed ones and those of templates
	Templates int `json:"templates"` // declared

	Directories int `json:"directories"` // that were listed
	Skills      int `json:"skills"`      // that were asked for

	Errors    int            `json:"errors"`   // findings, with the omitted ones
	Warnings  int            `json:"warnings"` // findings, with the omitted ones
	Findings  []Finding      `json:"findings"` // errors first, by rule
	Omitted   map[string]int `json:"omitted"`  // findings beyond 20 of a rule, by rule
	Unsampled []Unsampled    `json:"unsampled"`
}

// add adds a finding.
func (r *Report) add(rule, where, format string, args ...any) {
	r.addFinding(Finding{Rule: rule, Where: where, Problem: fmt.Sprintf(format, args...)})
}

// addFailure adds a finding about a failed call.
func (r *Report) addFailure(rule, where, what string, err error) {
	r.addFinding(Finding{Rule: rule, Where: where, Problem: what + ": " + publicText(err), Code: abi.CodeOf(err).String()})
}

// EnginesDiffer adds a finding about a call that ended in another way on another engine.
func (r *Report) EnginesDiffer(where, problem string) {
	r.add(ruleEnginesDiffer, where, "%s", problem)
	r.sort()
}

func (r *Report) addFinding(f Finding) {
	rule := rules[rank(f.Rule)]
	f.Severity, f.Advice = rule.Severity, rule.Advice
	f.Where, f.Problem = line(f.Where, maxWhere), line(f.Problem, maxProblem)
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

// sort orders the findings as the rules are.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(rank(a.Rule), rank(b.Rule)) })
}

// publicText returns the code of an error and its message for clients.
func publicText(err error) string {
	code, text := abi.CodeOf(err).String(), publicMessage(err)
	if text == "" || text == code {
		return code
	}
	return code + ", " + text
}

// line returns a provider's text as one line of at most limit characters, without terminal control characters.
func line(s string, limit int) string {
	runes := []rune(printable.Line(s[:min(len(s), 4*limit)]))
	if len(runes) > limit || len(s) > 4*limit {
		return string(runes[:min(len(runes), limit-1)]) + "…"
	}
	return string(runes)
}
