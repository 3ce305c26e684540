package hosting

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"

	"github.com/wasmres/wasmres/internal/acme"
	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/systemd"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// A listener is a socket with how to serve on it.
type listener struct {
	net.Listener
	certificate *certificate.Files // nil without TLS, and with acme
	acme        *acme.Manager      // nil for certificates in files; several listeners may have one
	isOfCA      bool               // a certificate authority connects here, over HTTP, and clients do not
	opts        runtime.TransportOptions
}

// listen opens the sockets of the settings, unless from has them of an earlier server, or activated of the service manager. asks
// reports whether clients are asked for certificates.
func listen(s *tenant.Settings, from *takeover.Sockets, activated []systemd.Socket, asks func() bool, logger *slog.Logger) (all []listener, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
			all = nil
		}
	}()
	open := func(use, address string) (net.Listener, error) {
		return from.Listen(use+" "+address, func() (net.Listener, error) {
			if len(activated) > 0 {
				first := activated[0].Listener
				activated = activated[1:]
				return first, nil
			}
			opened, err := net.Listen("tcp", address)
			if err != nil {
				return nil, explainInUse(address, err)
			}
			return opened, nil
		})
	}
	manager, err := openACME(s, logger)
	if err != nil {
		return nil, err
	}
	for _, l := range s.Listen {
		one := listener{opts: runtime.TransportOptions{Logger: logger}}
		switch {
		case l.ACME != nil:
			one.acme, one.opts.TLS = manager, manager.Asking(asks)
		case l.Cert != "":
			files, err := openCertificates(l, logger)
			if err != nil {
				return all, err
			}
			one.certificate, one.opts.TLS = files, files.Asking(asks)
		}
		one.Listener, err = open("clients", l.Address)
		if err != nil {
			return all, err
		}
		all = append(all, one)
		if one.opts.TLS == nil && !l.IsLoopback() {
			logger.Warn("keys and answers are not encrypted: give the listener a certificate, or put a proxy that speaks HTTPS in front", "addr", l.Address)
		}
	}
	if a := s.ACME(); a != nil && a.HTTP != "" {
		one := listener{acme: manager, isOfCA: true}
		if one.Listener, err = open("authority", a.HTTP); err != nil {
			return all, err
		}
		all = append(all, one)
	}
	for _, more := range activated {
		logger.Warn("socket of the service manager not used: the settings have fewer listeners", "name", more.Name)
		_ = more.Close()
	}
	return all, nil
}

// openACME opens what gets the certificates of the settings; nil if files have them.
func openACME(s *tenant.Settings, logger *slog.Logger) (*acme.Manager, error) {
	a := s.ACME()
	if a == nil {
		return nil, nil
	}
	return acme.Open(acme.Config{
		Dir: filepath.Join(s.Data, "acme"), Directory: a.Directory, CAFile: a.CAFile, Email: a.Email, HTTP: a.HTTP != "", Logger: logger,
	})
}

func openCertificates(l tenant.Listener, logger *slog.Logger) (*certificate.Files, error) {
	cfg := certificate.Config{Cert: l.Cert, Key: l.Key, Logger: logger}
	for _, pair := range l.Certificates {
		cfg.More = append(cfg.More, certificate.Pair(pair))
	}
	return certificate.Open(cfg)
}

func explainInUse(address string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return fmt.Errorf("another program listens at %s: end it, replace it with --takeover if it is a server of these settings, or choose another address with listen in serve.yaml or with --http (%w)", address, err)
}

func closeAll(all []listener) error {
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
