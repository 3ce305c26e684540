package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// checkSkills asks twice for samples of the skills: the host reads all their files, and makes their digests.
func (r *run) checkSkills(ctx context.Context) {
	var all []*entry
	for i := range r.entries {
		if e := &r.entries[i]; strings.HasSuffix(e.uri, skillFile) && abi.CheckURI(e.uri) == nil {
			all = append(all, e)
		}
	}
	if len(all) == 0 || !resource.HasDirectories(r.cfg.Source) {
		return
	}
	server, err := runtime.NewServer(r.cfg.Source, &runtime.ServerOptions{Name: "check", Version: "0"})
	if err != nil {
		r.report.addFailure(ruleSkillInvalid, whereList, "the skills cannot be asked for", err)
		return
	}
	defer server.Close()
	for _, e := range r.sample(all) {
		if ctx.Err() != nil {
			return
		}
		r.report.Skills++
		r.checkSkill(ctx, server, e.uri)
	}
}

// checkSkill asks for a skill, and compares it with itself.
func (r *run) checkSkill(ctx context.Context, server *runtime.Server, uri string) {
	ask := func() (json.RawMessage, error) { return server.Call(ctx, "skills/get", map[string]string{"uri": uri}) }
	first, err := ask()
	if err != nil {
		if ctx.Err() == nil {
			r.report.add(ruleSkillInvalid, uri, "%s", reasonOf(err))
		}
		return
	}
	if second, err := ask(); ctx.Err() == nil && (err != nil || !bytes.Equal(first, second)) {
		r.report.add(ruleSkillUnstable, uri, "two reads give other digests, sizes, files or frontmatter")
	}
}

// reasonOf returns why the host leaves a skill out.
func reasonOf(err error) string {
	var e *abi.Error
	if errors.As(err, &e) && e.Cause != nil {
		return e.Cause.Error()
	}
	return err.Error()
}
