package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/dashboard"
)

// Operate serves operators until ctx ends: on the admin socket, and at the address of probes and metrics, if the settings
// have one. It also writes when keys were used. It calls ready when operators can connect. The caller calls it once.
func (n *Node) Operate(ctx context.Context, ready func()) error {
	s := n.cfg.Settings
	api, err := admin.New(admin.Config{
		Host: n, Keys: n, Once: n.store, Secrets: n.seals, Record: n.Record, Refused: n.refused.addAdmin, Audit: n.ledger.Select, Events: n.ledger,
		Usage: n.Usage, Quotas: n.Quotas, Sessions: n.Sessions, Versions: versions{n.deployer, n.host}, Crashes: n.crashes, Logs: n.logs, Takeover: n.cfg.Takeover, Logger: n.cfg.Logger,
	})
	if err != nil {
		return err
	}
	pages, err := dashboard.New(dashboard.Config{API: api, Logger: n.cfg.Logger})
	if err != nil {
		return err
	}
	socket, err := n.cfg.Sockets.Listen("admin "+s.Admin.Socket, func() (net.Listener, error) { return admin.Listen(ctx, s.Admin.Socket) })
	if err != nil {
		return fmt.Errorf("serve operators: %w", err)
	}
	var probes net.Listener
	if s.Admin.Listen != "" {
		probes, err = n.cfg.Sockets.Listen("probes "+s.Admin.Listen, func() (net.Listener, error) { return admin.ListenProbes(ctx, s.Admin.Listen) })
		if err != nil {
			return errors.Join(fmt.Errorf("serve probes and metrics: %w", err), socket.Close())
		}
	}
	remote, config, err := n.listenTLS(ctx)
	if err != nil {
		return errors.Join(err, socket.Close(), closeIf(probes))
	}
	n.cfg.Logger.Info("operators can connect", "socket", s.Admin.Socket, "probes", addressOf(probes), "tls", addressOf(remote))
	ready()
	context.AfterFunc(ctx, func() { n.draining.Store(true) })
	var serving sync.WaitGroup
	ended := make(chan error, 3)
	serving.Go(func() { ended <- api.Serve(ctx, socket) })
	if remote != nil {
		serving.Go(func() { ended <- api.ServeTLS(ctx, remote, config, pages) })
	}
	if probes != nil {
		p := admin.NewProbes(admin.ProbeConfig{NotReady: n.NotReady, Problems: n.Problems, Metrics: n.metrics.Handler(), Logger: n.cfg.Logger})
		serving.Go(func() { ended <- p.Serve(ctx, probes) })
	}
	if m := n.managed.Load(); m != nil {
		serving.Go(func() { n.asWriter(ctx, m.Run) })
	}
	serving.Go(func() { n.asWriter(ctx, n.recordRefused) })
	serving.Go(func() { n.asWriter(ctx, n.watchClock) })
	serving.Go(func() { n.asWriter(ctx, n.measureStorage) })
	serving.Go(func() { n.asWriter(ctx, n.promoteRipe) })
	serving.Go(func() {
		n.asWriter(ctx, func(ctx context.Context) { n.keys.WriteUses(ctx, n.store, n.cfg.Logger) })
	})
	serving.Wait()
	close(ended)
	var errs []error
	for err := range ended {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// listenTLS listens for operators on other machines, if the settings say so.
func (n *Node) listenTLS(ctx context.Context) (net.Listener, *tls.Config, error) {
	at := n.cfg.Settings.Admin.TLS
	if at == nil {
		return nil, nil, nil
	}
	files, err := certificate.Open(certificate.Config{Cert: at.Cert, Key: at.Key, ClientCA: at.ClientCA, Logger: n.cfg.Logger})
	if err != nil {
		return nil, nil, fmt.Errorf("serve operators: %w", err)
	}
	n.AddCertificate(files)
	l, err := n.cfg.Sockets.Listen("admin "+at.Address, func() (net.Listener, error) { return (&net.ListenConfig{}).Listen(ctx, "tcp", at.Address) })
	if err != nil {
		return nil, nil, fmt.Errorf("serve operators: %w", err)
	}
	return l, files.TLS(), nil
}

func closeIf(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// addressOf returns the address of a listener; empty for none.
func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}
