package app

import (
	"context"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// audit logs the uses of capabilities; refused ones have a higher level.
func (a *App) audit(ctx context.Context, use capability.Use) {
	level := slog.LevelDebug
	if use.Code == abi.CodeDenied {
		level = slog.LevelInfo
	}
	a.cfg.Logger.LogAttrs(ctx, level, "capability used", slog.String("capability", use.Capability), slog.String("subject", use.Subject),
		slog.String("rule", use.Rule), slog.String("code", use.Code.String()), slog.Uint64("bytes", use.Bytes),
		slog.Duration("took", use.Elapsed))
}
