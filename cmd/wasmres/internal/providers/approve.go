package providers

import (
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/runtime"
)

// OpenWithApproval opens providers with what a person has granted them: on this command line, or before, or now.
func OpenWithApproval(c *cli.Context, configs []app.Config) (*app.App, error) {
	for i := range configs {
		if !configs[i].Grants.Empty() {
			continue
		}
		info, err := runtime.InspectFile(configs[i].File)
		if err != nil {
			return nil, WithName(configs[i], err)
		}
		m, digest := info.Manifest, info.Digest
		if m == nil && len(configs) == 1 {
			return openToAsk(c, configs[0])
		}
		if m == nil {
			if m, digest, err = DescribeUngranted(c, configs[i]); err != nil {
				return nil, WithName(configs[i], err)
			}
		}
		if configs[i], err = withApproved(c, configs[i], m, digest); err != nil {
			return nil, err
		}
	}
	return app.OpenAll(c.Context, configs)
}

// OpenForReading opens providers to look at them, with what a person has granted each very module on this command line, or
// before. It asks for nothing.
func OpenForReading(c *cli.Context, configs []app.Config) (*app.App, error) {
	for i := range configs {
		var err error
		if configs[i], err = withRemembered(c, configs[i]); err != nil {
			return nil, WithName(configs[i], err)
		}
	}
	return app.OpenAll(c.Context, configs)
}

// withRemembered gives a provider what was granted before, where the command line grants nothing.
func withRemembered(c *cli.Context, cfg app.Config) (app.Config, error) {
	if !cfg.Grants.Empty() {
		return cfg, nil
	}
	info, err := runtime.InspectFile(cfg.File)
	if err != nil {
		return cfg, err
	}
	store, err := OpenApprovals(c)
	if err != nil {
		cfg.Logger.Debug("what was granted before does not count", "cause", err)
		return cfg, nil
	}
	decision := approval.Decide(approval.Request{
		Manifest: &abi.Manifest{}, Digest: info.Digest, File: cfg.File, Given: &cfg.Grants, Store: store, Exact: true,
	})
	if decision.Outcome == approval.Granted {
		cfg.Logger.Debug("what the provider may touch", "why", decision.Why)
		cfg = applyPolicy(c, cfg, decision.Policy)
		cfg.Digest = info.Digest
	}
	return cfg, nil
}

// WithName says whose error it is, where there are several providers.
func WithName(cfg app.Config, err error) error {
	if cfg.Name == "" {
		return err
	}
	return fmt.Errorf("provider %s: %w", cfg.Name, err)
}

// openToAsk opens a provider that says by itself what it asks for: once, when it gets nothing.
func openToAsk(c *cli.Context, cfg app.Config) (*app.App, error) {
	a, err := app.Open(c.Context, cfg)
	if err != nil {
		return nil, err
	}
	permitted, err := withApproved(c, cfg, a.Provider().Manifest(), a.Provider().Info().Digest)
	if err == nil && permitted.Grants.Empty() {
		return a, nil
	}
	if closing := a.Close(); err != nil || closing != nil {
		return nil, errors.Join(err, closing)
	}
	return app.Open(c.Context, permitted)
}

// DescribeUngranted asks a provider, to which nothing is granted, what it is.
func DescribeUngranted(c *cli.Context, cfg app.Config) (m *abi.Manifest, digest string, err error) {
	a, err := app.Open(c.Context, cfg)
	if err != nil {
		return nil, "", err
	}
	return a.Provider().Manifest(), a.Provider().Info().Digest, a.Close()
}

// withApproved gives a provider what it may touch, and holds it to the module that this was decided for.
func withApproved(c *cli.Context, cfg app.Config, m *abi.Manifest, digest string) (app.Config, error) {
	request := approval.Request{Manifest: m, Digest: digest, File: cfg.File, Given: &cfg.Grants}
	store, err := OpenApprovals(c)
	if err != nil && approval.Decide(request).Outcome != approval.Granted {
		return cfg, err
	}
	request.Store = store
	person, leave := AskingTerminal(c)
	if person != nil {
		defer leave()
	}
	decision, err := approval.Settle(c.Context, request, person, UserName())
	if err != nil {
		return cfg, err
	}
	cfg.Logger.Debug("what the provider may touch", "why", decision.Why)
	if decision.Problem != nil {
		cfg.Logger.Warn("approvals do not work as they should", "cause", decision.Problem)
	}
	cfg = applyPolicy(c, cfg, decision.Policy)
	cfg.Digest = digest
	return cfg, nil
}
