package serve

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/certificate"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
)

// operatorFlags are the flags of a server that others than its operator may reach. All but --insecure need --http.
var operatorFlags = []string{
	"tokens", "issuer", "audience", "tls-cert", "tls-key", "tls-client-ca", "rate", "rate-burst",
	"access-log", "access-log-format", "access-log-size", "access-log-keep",
}

const (
	accessCategory = "Access over HTTP"
	logOff         = "off"
	logStderr      = "stderr"
)

// InsecureFlag returns the flag --insecure.
func InsecureFlag(category string) cli.Flag {
	return &cli.BoolFlag{Name: "insecure", Category: category, Usage: "listen beyond this machine although clients need no credential: for a server behind a proxy that authenticates them"}
}

func operatorFlagList() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tokens", Category: accessCategory, Usage: "serve clients with a bearer token of this `FILE` only; 'wasmres token' makes and lists them"},
		&cli.StringFlag{Name: "issuer", Category: accessCategory, Usage: "serve clients with an access token of the OAuth issuer at this `URL` only, as https://id.example.com; with --audience"},
		&cli.StringFlag{Name: "audience", Category: accessCategory, Usage: "with --issuer, the `URL` at which clients reach this server, as https://mcp.example.com/mcp, which tokens must be for"},
		&cli.StringFlag{Name: "tls-cert", Category: accessCategory, Usage: "serve HTTPS, with the certificate in this PEM `FILE`; it is read again when it changes"},
		&cli.StringFlag{Name: "tls-key", Category: accessCategory, Usage: "the PEM `FILE` with the key of the certificate"},
		&cli.StringFlag{Name: "tls-client-ca", Category: accessCategory, Usage: "serve clients with a certificate of an authority in this PEM `FILE` only"},
		InsecureFlag(accessCategory),
		&cli.StringFlag{Name: "rate", Category: accessCategory, Usage: "at most this `RATE` of requests for each client, as in 50/s, 100/m or 1000/h"},
		&cli.IntFlag{Name: "rate-burst", Category: accessCategory, Usage: "with --rate, at most this `NUMBER` of requests at once; 0 is those of one second"},
		&cli.StringFlag{Name: "access-log", Category: accessCategory, Value: logOff, Usage: "write a line for each request to this `FILE`, or to stderr"},
		cli.Choice(&cli.StringFlag{Name: "access-log-format", Category: accessCategory, Value: "text", Usage: "write the access log in this `FORMAT`: text or json"}, "text", "json"),
		&cli.StringFlag{Name: "access-log-size", Category: accessCategory, Value: "100MiB", Usage: "begin another access log at this `SIZE`"},
		&cli.IntFlag{Name: "access-log-keep", Category: accessCategory, Value: 5, Usage: "keep this `NUMBER` of older access logs"},
	}
}

// An operation is what a server over HTTP has open for its operator. Close releases it.
type operation struct {
	closers []func() error
}

// openOperation reads operatorFlags into o. The caller closes the operation, after the server.
func openOperation(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) (*operation, error) {
	p := &operation{}
	for _, open := range []func(*cli.Context, *runtime.ServerOptions, *slog.Logger) error{
		checkOperatorFlags, readRate, openTLS, p.openTokens, p.openIssuer, p.openAccessLog,
	} {
		if err := open(c, o, logger); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// Close closes what openOperation has opened.
func (p *operation) Close() error {
	var errs []error
	for _, one := range p.closers {
		errs = append(errs, one())
	}
	p.closers = nil
	return errors.Join(errs...)
}

func checkOperatorFlags(c *cli.Context, _ *runtime.ServerOptions, _ *slog.Logger) error {
	if c.String("http") != "" {
		return nil
	}
	for _, name := range operatorFlags {
		if c.IsSet(name) {
			return cli.Usagef(c, "--%s is for servers over HTTP: add --http ADDRESS", name)
		}
	}
	return nil
}

func readRate(c *cli.Context, o *runtime.ServerOptions, _ *slog.Logger) (err error) {
	if o.Burst = c.Int("rate-burst"); o.Burst < 0 {
		return cli.Usagef(c, "--rate-burst %d: it cannot be negative", o.Burst)
	}
	switch given := c.String("rate"); {
	case given != "":
		if o.RatePerSecond, err = parseRate(given); err != nil {
			return cli.Usagef(c, "--rate: %w", err)
		}
	case c.IsSet("rate"), o.Burst > 0:
		return cli.Usagef(c, "--rate is missing: write it like 50/s, 100/m or 1000/h")
	}
	return nil
}

// parseRate reads a rate, in requests a second.
func parseRate(s string) (perSecond float64, err error) {
	number, unit, _ := strings.Cut(s, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 || seconds == 0 {
		return 0, fmt.Errorf("%q is not a rate: write it like 50/s, 100/m or 1000/h", s)
	}
	return float64(n) / seconds, nil
}

func openTLS(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) error {
	cfg := certificate.Config{
		Cert: c.String("tls-cert"), Key: c.String("tls-key"), ClientCA: c.String("tls-client-ca"), Logger: logger,
	}
	switch {
	case cfg.Cert == "" && cfg.Key == "" && cfg.ClientCA == "":
		return nil
	case cfg.Cert == "":
		return cli.Usagef(c, "--tls-cert is missing: HTTPS needs a certificate")
	case cfg.Key == "":
		return cli.Usagef(c, "--tls-key is missing: HTTPS needs the key of the certificate")
	}
	files, err := certificate.Open(cfg)
	if err != nil {
		return err
	}
	o.TLS = files.TLS()
	if cfg.ClientCA != "" {
		o.Auth = auth.Certificates{}
	}
	return nil
}

// openTokens opens the file of tokens. With certificates of clients, too, a client shows both, and the token names it.
func (p *operation) openTokens(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) error {
	file := c.String("tokens")
	if file == "" {
		return nil
	}
	store, err := tokens.Open(file, logger)
	if err != nil {
		return fmt.Errorf("%w; 'wasmres token new --tokens %s' makes a file", err, file)
	}
	p.closers = append(p.closers, store.Close)
	o.Auth = store
	return nil
}

func (p *operation) openAccessLog(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) error {
	format, ok := map[string]accesslog.Format{"text": accesslog.Text, "json": accesslog.JSON}[c.String("access-log-format")]
	if !ok {
		return cli.Usagef(c, "--access-log-format %s: it is one of text, json", c.String("access-log-format"))
	}
	size, err := cli.ParseSize(c.String("access-log-size"))
	if err != nil || size < 1 {
		return cli.Usagef(c, "--access-log-size %s: write it like 100MiB", c.String("access-log-size"))
	}
	keep := c.Int("access-log-keep")
	if keep < 1 || keep > 1000 {
		return cli.Usagef(c, "--access-log-keep %d: it must be from 1 to 1000", keep)
	}
	to := c.String("access-log")
	if to == "" || to == logOff {
		return nil
	}
	l, err := OpenAccessLog(to, format, accesslog.FileConfig{MaxBytes: int64(min(size, math.MaxInt64)), Keep: keep}, c.App.ErrWriter, logger)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, l.Close)
	o.AccessLog = l.Add
	return nil
}

// OpenAccessLog opens an access log: a file, or what is given as stderr for the name stderr. The caller closes it, but not
// stderr.
func OpenAccessLog(to string, format accesslog.Format, cfg accesslog.FileConfig, stderr io.Writer, logger *slog.Logger) (*accesslog.Log, error) {
	if to == logStderr {
		return accesslog.New(keepOpen{stderr}, format, logger), nil
	}
	file, err := accesslog.OpenFile(to, cfg)
	if err != nil {
		return nil, err
	}
	return accesslog.New(file, format, logger), nil
}

// A keepOpen stream is not closed with what writes to it.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// ExplainExposed adds to an error that says that all clients could read everything what to do about it: advice.
func ExplainExposed(addr, advice string, err error) error {
	if !errors.Is(err, app.ErrExposed) {
		return err
	}
	return fmt.Errorf("--http %s: %w: %s", addr, err, advice)
}

const runAdvice = "add --tokens FILE ('wasmres token new' makes one), or --issuer URL, or --tls-client-ca FILE, or --insecure if a proxy in front authenticates clients"
