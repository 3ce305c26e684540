package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/wasmres/wasmres/internal/admin"
)

// Operate serves operators until ctx ends: on the admin socket, and at the address of probes and metrics, if the settings
// have one. It also writes when keys were used. It calls ready when operators can connect. The caller calls it once.
func (n *Node) Operate(ctx context.Context, ready func()) error {
	s := n.cfg.Settings
	api, err := admin.New(admin.Config{Host: n, Keys: n, Once: n.store, Record: n.Record, Usage: n.Usage, Crashes: n.crashes, Logger: n.cfg.Logger})
	if err != nil {
		return err
	}
	socket, err := admin.Listen(ctx, s.Admin.Socket)
	if err != nil {
		return fmt.Errorf("serve operators: %w", err)
	}
	var probes net.Listener
	if s.Admin.Listen != "" {
		if probes, err = admin.ListenProbes(ctx, s.Admin.Listen); err != nil {
			return errors.Join(fmt.Errorf("serve probes and metrics: %w", err), socket.Close())
		}
	}
	n.cfg.Logger.Info("operators can connect", "socket", s.Admin.Socket, "probes", addressOf(probes))
	ready()
	context.AfterFunc(ctx, func() { n.draining.Store(true) })
	var serving sync.WaitGroup
	ended := make(chan error, 2)
	serving.Go(func() { ended <- api.Serve(ctx, socket) })
	if probes != nil {
		p := admin.NewProbes(admin.ProbeConfig{NotReady: n.NotReady, Metrics: n.metrics.Handler(), Logger: n.cfg.Logger})
		serving.Go(func() { ended <- p.Serve(ctx, probes) })
	}
	serving.Go(func() { n.recordRefused(ctx) })
	serving.Go(func() { n.keys.WriteUses(ctx, n.store, n.cfg.Logger) })
	serving.Wait()
	close(ended)
	var errs []error
	for err := range ended {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addressOf returns the address of a listener; empty for none.
func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}
