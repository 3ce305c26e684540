package node

import (
	"context"
	"errors"
	"net/http"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/deploy"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/internal/tenant"
)

// versions are those of a node, for operators.
type versions struct {
	*deploy.Deployer
	host *host.Host
}

var _ admin.Versions = versions{}

// Push implements [admin.Versions].
func (v versions) Push(ctx context.Context, p admin.Push) (*tenant.Version, error) {
	made, err := v.Deployer.Push(ctx, deploy.Push(p))
	return made, versionProblem(err)
}

// Approve implements [admin.Versions].
func (v versions) Approve(ctx context.Context, id tenant.ProviderID, number int, actor string) error {
	return versionProblem(v.Deployer.Approve(ctx, id, number, actor))
}

// Reject implements [admin.Versions].
func (v versions) Reject(ctx context.Context, id tenant.ProviderID, number int, reason, actor string) error {
	return versionProblem(v.Deployer.Reject(ctx, id, number, reason, actor))
}

// Promote implements [admin.Versions].
func (v versions) Promote(ctx context.Context, id tenant.ProviderID, number int, actor string, mayChange func(*tenant.Route) error) error {
	return versionProblem(v.Deployer.Promote(ctx, id, number, actor, mayChange))
}

// Rollback implements [admin.Versions].
func (v versions) Rollback(ctx context.Context, id tenant.ProviderID, actor string, mayChange func(*tenant.Route) error) error {
	return versionProblem(v.Deployer.Rollback(ctx, id, actor, mayChange))
}

// SetRoute implements [admin.Versions].
func (v versions) SetRoute(ctx context.Context, id tenant.ProviderID, active, canary, share int, actor string, mayChange func(*tenant.Route) error) error {
	return versionProblem(v.Deployer.SetRoute(ctx, id, active, canary, share, actor, mayChange))
}

// Watchers implements [admin.Versions].
func (v versions) Watchers(tenantID string) int { return v.host.Subscriptions(tenantID) }

// Trial implements [admin.Versions].
func (v versions) Trial(id tenant.ProviderID) *admin.Trial {
	state, ok := v.host.Rollout(id)
	if !ok {
		return nil
	}
	t := &admin.Trial{
		Version: state.Version, Active: countsOf(state.Active), Canary: countsOf(state.Canary), Problem: state.Problem, Failed: state.Failed,
	}
	if len(state.History) > 0 {
		t.History = &admin.History{StepSeconds: int(state.StepTime.Seconds())}
		for _, step := range state.History {
			t.History.Steps = append(t.History.Steps, admin.Step{Active: countsOf(step.Active), Canary: countsOf(step.Canary)})
		}
	}
	if !state.Began.IsZero() {
		t.Began = &state.Began
	}
	return t
}

func countsOf(c rollout.Counts) admin.Counts {
	return admin.Counts{Calls: int(c.Calls), Faults: int(c.Faults), P99Micros: c.P99.Microseconds()}
}

// versionProblem returns the error of a Deployer as the API says it.
func versionProblem(err error) error {
	is := func(status int, code string) error {
		return &admin.Problem{Status: status, Code: code, Detail: err.Error()}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, deploy.ErrNoVersion):
		return is(http.StatusNotFound, admin.CodeNoVersion)
	case errors.Is(err, deploy.ErrState):
		return is(http.StatusConflict, admin.CodeState)
	case deploy.IsTooLarge(err):
		return is(http.StatusRequestEntityTooLarge, admin.CodeTooLarge)
	case errors.Is(err, blobs.ErrFull):
		return is(http.StatusServiceUnavailable, admin.CodeUnavailable)
	}
	return err
}
