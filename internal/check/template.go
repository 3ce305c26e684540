package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	expand "github.com/yosida95/uritemplate/v3"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

const (
	maxCompletions = 1000 // in one answer
	maxDirs        = 16   // values of a variable that are completed further, with the empty one
)

// readTemplates reads samples of the templates that complete all their variables.
func (r *run) readTemplates(ctx context.Context) {
	for _, t := range r.routes {
		if ctx.Err() != nil {
			return
		}
		r.checkCompletions(ctx, t)
		for _, values := range r.samples(ctx, t) {
			r.readSample(ctx, t, values)
		}
	}
}

func (r *run) readSample(ctx context.Context, t *route, values []abi.Var) {
	uri, err := t.uri(values)
	if err == nil {
		err = abi.CheckURI(uri)
	}
	if err != nil {
		r.report.add(ruleCompletionDangling, t.declared.URITemplate, "%s does not make a URI: %v", named(values), err)
		return
	}
	r.readOne(ctx, target{uri: uri, completed: len(values) > 0})
}

// uri expands the template.
func (t *route) uri(values []abi.Var) (string, error) {
	vars := expand.Values{}
	for _, v := range values {
		vars.Set(v.Name, expand.String(bytewise(v.Value)))
	}
	return t.expand.Expand(vars)
}

// bytewise makes a character of each byte: the library escapes the number of a character, not its bytes in UTF-8.
func bytewise(s string) string {
	all := make([]rune, len(s))
	for i := range len(s) {
		all[i] = rune(s[i])
	}
	return string(all)
}

func named(values []abi.Var) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, fmt.Sprintf("%s %.60q", v.Name, v.Value))
	}
	return strings.Join(parts, ", ")
}

// samples returns values for all variables of a template: all values of the first variable, each with the first
// completed value of the others.
func (r *run) samples(ctx context.Context, t *route) (samples [][]abi.Var) {
	names := t.variables()
	for _, name := range names {
		if !slices.Contains(t.declared.Completes, name) {
			t.why = fmt.Sprintf("the template does not complete its variable %s", name)
			return nil
		}
	}
	if len(names) == 0 {
		return [][]abi.Var{nil}
	}
	t.why = fmt.Sprintf("the completion of its variable %s has no values", names[0])
	for _, first := range r.values(ctx, t, names[0], nil) {
		values := []abi.Var{{Name: names[0], Value: first}}
		for _, name := range names[1:] {
			next := r.values(ctx, t, name, values)
			if len(next) == 0 {
				t.why = fmt.Sprintf("the completion of its variable %s has no values", name)
				break
			}
			values = append(values, abi.Var{Name: name, Value: next[0]})
		}
		if len(values) == len(names) {
			samples = append(samples, values)
			t.why = "no completed value names a resource of the template"
		}
	}
	return samples
}

// variables returns each variable once.
func (t *route) variables() (names []string) {
	for _, name := range t.match.Variables() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// values returns completed values of a variable. A value that ends in a slash may be a directory: values completes it
// further, and returns it only if it finds no others.
func (r *run) values(ctx context.Context, t *route, name string, known []abi.Var) (found []string) {
	limit := maxCompletions
	if r.cfg.Samples > 0 {
		limit = min(limit, r.cfg.Samples)
	}
	typed := []string{""} // prefixes to complete
	for i := 0; i < len(typed) && len(found) < limit; i++ {
		reply, err := r.complete(ctx, t, name, typed[i], known)
		if err != nil {
			break
		}
		for _, v := range reply.Completions[:min(len(reply.Completions), maxCompletions)] {
			switch {
			case isInvalidValue(v) || slices.Contains(typed, v):
			case strings.HasSuffix(v, "/"):
				if len(typed) < maxDirs {
					typed = append(typed, v)
				}
			default:
				found = append(found, v)
			}
		}
	}
	if len(found) == 0 {
		found = typed[1:]
	}
	return found[:min(len(found), limit)]
}

func (r *run) complete(ctx context.Context, t *route, name, typed string, known []abi.Var) (*abi.Reply, error) {
	return r.cfg.Source.Complete(ctx, &resource.Request{Template: t.declared.URITemplate, Arg: name, Value: typed, Vars: known})
}

// checkCompletions completes each variable that the template declares, from an empty and from an unlikely prefix.
func (r *run) checkCompletions(ctx context.Context, t *route) {
	for _, name := range t.declared.Completes {
		if !slices.Contains(t.match.Variables(), name) {
			continue
		}
		for _, typed := range []string{"", NoSuch} {
			reply, err := r.complete(ctx, t, name, typed, nil)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				what := fmt.Sprintf("completion of %s from %q failed", name, typed)
				r.report.addFailure(ruleCompletionFails, t.declared.URITemplate, what, err)
			default:
				r.checkCompletion(t.declared.URITemplate, name, reply)
			}
		}
	}
}

func (r *run) checkCompletion(where, name string, reply *abi.Reply) {
	values := reply.Completions
	if len(values) > maxCompletions {
		r.report.add(ruleCompletionWrong, where, "variable %s has %d values, more than %d",
			name, len(values), maxCompletions)
	}
	if reply.CompletionTotal > 0 && int(reply.CompletionTotal) < len(values) {
		r.report.add(ruleCompletionWrong, where, "variable %s has %d values, but a total of %d",
			name, len(values), reply.CompletionTotal)
	}
	seen := map[string]bool{}
	for _, v := range values[:min(len(values), maxCompletions)] {
		if isInvalidValue(v) {
			r.report.add(ruleCompletionWrong, where, "variable %s has the invalid value %.60q", name, v)
		} else if seen[v] {
			r.report.add(ruleCompletionWrong, where, "variable %s has the value %.60q twice", name, v)
		}
		seen[v] = true
	}
}

func isInvalidValue(v string) bool {
	return v == "" || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl)
}

// reportUnsampled reports the templates without a read resource.
func (r *run) reportUnsampled() {
	for _, t := range r.routes {
		if !t.sampled {
			r.report.Unsampled = append(r.report.Unsampled, t.unsampled())
		}
	}
}

func (t *route) unsampled() Unsampled {
	return Unsampled{Template: line(t.declared.URITemplate, maxWhere), Why: line(t.why, maxWhere)}
}

// Variables returns the names of the variables of a URI template, in their order. The error says why it is not one.
func Variables(template string) ([]string, error) {
	t, err := expand.New(template)
	if err != nil {
		return nil, err
	}
	return t.Varnames(), nil
}

// Expand returns the URI of a URI template with values of its variables. The error says why it has none.
func Expand(template string, values []abi.Var) (string, error) {
	t, err := expand.New(template)
	if err != nil {
		return "", err
	}
	return (&route{expand: t}).uri(values)
}
