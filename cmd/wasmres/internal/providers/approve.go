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

// OpenWithApproval opens providers with the grants of the command line, or, if it has none, with approved ones. It asks the
// user, on a terminal, for grants that are not approved.
func OpenWithApproval(c *cli.Context, configs []app.Config) (*app.App, error) {
	for i := range configs {
		if !configs[i].Grants.Empty() {
			continue
		}
		info, err := inspect(configs[i])
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

// OpenForReading opens providers with the grants of the command line, or, if it has none, with those approved for this
// very module. It asks the user for nothing.
func OpenForReading(c *cli.Context, configs []app.Config) (*app.App, error) {
	for i := range configs {
		var err error
		if configs[i], err = withRemembered(c, configs[i]); err != nil {
			return nil, WithName(configs[i], err)
		}
	}
	return app.OpenAll(c.Context, configs)
}

// withRemembered adds the grants approved for its module to a provider, if the command line grants nothing.
func withRemembered(c *cli.Context, cfg app.Config) (app.Config, error) {
	if !cfg.Grants.Empty() {
		return cfg, nil
	}
	info, err := inspect(cfg)
	if err != nil {
		return cfg, err
	}
	store, err := OpenApprovals(c)
	if err != nil {
		cfg.Logger.Debug("approvals not used", "err", err)
		return cfg, nil
	}
	decision := approval.Decide(approval.Request{
		Manifest: &abi.Manifest{}, Digest: info.Digest, File: cfg.File, From: cfg.From, Given: &cfg.Grants, Store: store, Exact: true,
	})
	if decision.Outcome == approval.Granted {
		cfg.Logger.Debug("grants decided", "reason", decision.Why)
		cfg = applyPolicy(c, cfg, decision.Policy)
		cfg.Digest = info.Digest
	}
	return cfg, nil
}

// inspect inspects the module of a provider. If the provider has a digest, which the trust policy has accepted, another module
// in its file is an error: its digest would otherwise take the place of the accepted one.
func inspect(cfg app.Config) (*runtime.ModuleInfo, error) {
	info, err := runtime.InspectFile(cfg.File)
	if err != nil {
		return nil, err
	}
	if cfg.Digest != "" && info.Digest != cfg.Digest {
		return nil, fmt.Errorf("%s was changed after it was verified: it has the digest %s, expected %s: get it again with wasmres pull",
			cfg.File, info.Digest, cfg.Digest)
	}
	return info, nil
}

// WithName adds the name of one of several providers to its error.
func WithName(cfg app.Config, err error) error {
	if cfg.Name == "" {
		return err
	}
	return fmt.Errorf("provider %s: %w", cfg.Name, err)
}

// openToAsk opens a provider whose module has no manifest. It opens the provider without grants, so that the provider
// describes itself, and opens it again when the user grants something.
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

// DescribeUngranted opens a provider with the grants of cfg, which should have none, and gives its manifest and digest.
func DescribeUngranted(c *cli.Context, cfg app.Config) (m *abi.Manifest, digest string, err error) {
	a, err := app.Open(c.Context, cfg)
	if err != nil {
		return nil, "", err
	}
	return a.Provider().Manifest(), a.Provider().Info().Digest, a.Close()
}

// withApproved adds the grants decided for its module, and the digest of that module, to a provider, so that no other
// module is loaded with them.
func withApproved(c *cli.Context, cfg app.Config, m *abi.Manifest, digest string) (app.Config, error) {
	request := approval.Request{Manifest: m, Digest: digest, File: cfg.File, From: cfg.From, Given: &cfg.Grants}
	store, err := OpenApprovals(c)
	if err != nil && approval.Decide(request).Outcome != approval.Granted {
		return cfg, err
	}
	request.Store = store
	tty, closeTTY := AskingTerminal(c)
	if tty != nil {
		defer closeTTY()
	}
	decision, err := approval.Obtain(c.Context, request, tty, UserName())
	if err != nil {
		return cfg, err
	}
	cfg.Logger.Debug("grants decided", "reason", decision.Why)
	if decision.Problem != nil {
		cfg.Logger.Warn("approvals failed in part", "err", decision.Problem)
	}
	cfg = applyPolicy(c, cfg, decision.Policy)
	cfg.Digest = digest
	return cfg, nil
}
