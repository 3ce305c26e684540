package hosting

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/internal/systemd"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// A listener is a socket with how to serve on it.
type listener struct {
	net.Listener
	certificate *certificate.Files // nil without TLS
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
	for _, l := range s.Listen {
		one := listener{opts: runtime.TransportOptions{Logger: logger}}
		if l.Cert != "" {
			files, err := certificate.Open(certificate.Config{Cert: l.Cert, Key: l.Key, Logger: logger})
			if err != nil {
				return all, err
			}
			one.certificate, one.opts.TLS = files, files.Asking(asks)
		}
		one.Listener, err = from.Listen("clients "+l.Address, func() (net.Listener, error) {
			if len(activated) > 0 {
				first := activated[0].Listener
				activated = activated[1:]
				return first, nil
			}
			opened, err := net.Listen("tcp", l.Address)
			if err != nil {
				return nil, explainInUse(l.Address, err)
			}
			return opened, nil
		})
		if err != nil {
			return all, err
		}
		all = append(all, one)
		if one.opts.TLS == nil && !l.IsLoopback() {
			logger.Warn("keys and answers are not encrypted: give the listener a certificate, or put a proxy that speaks HTTPS in front", "addr", l.Address)
		}
	}
	for _, more := range activated {
		logger.Warn("socket of the service manager not used: the settings have fewer listeners", "name", more.Name)
		_ = more.Close()
	}
	return all, nil
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
