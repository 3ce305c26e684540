// Package collector says which collector of OpenTelemetry gets the traces of a server, and of which requests.
package collector

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Config says where traces go. Endpoint is required.
type Config struct {
	// Endpoint is the URL of the collector, http or https, as in http://127.0.0.1:4318. Without a path it is that of OTLP,
	// /v1/traces.
	Endpoint string
	Headers  map[string]string // of each batch of spans; nil for none
	// Sample is the share of requests that are traced of those whose client has no trace: from 0 to 1.
	Sample float64
}

// Check reports what is wrong.
func (c *Config) Check() error {
	_, err := EndpointURL(c.Endpoint)
	if !(c.Sample >= 0 && c.Sample <= 1) { // NaN is neither
		err = errors.Join(err, fmt.Errorf("a share of %v requests cannot be traced: it is from 0 to 1", c.Sample))
	}
	return err
}

// ParseShare reads a share as in 10%.
func ParseShare(text string) (float64, error) {
	percent, found := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(percent, 64)
	if !found || err != nil || !(n >= 0 && n <= 100) {
		return 0, fmt.Errorf("%.40q is not a share of requests: write it from 0%% to 100%%, as 10%%", text)
	}
	return n / 100, nil
}

// otlpPath is the path of traces at a collector.
const otlpPath = "/v1/traces"

// EndpointURL checks the URL of a collector, and adds the path of OTLP if it has none.
func EndpointURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return "", fmt.Errorf("%q is not the URL of a collector: write it like http://127.0.0.1:4318, and credentials as headers", text)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = otlpPath
	}
	return u.String(), nil
}

// Bounds on files of headers.
const (
	maxHeaders     = 32
	maxHeaderBytes = 64 << 10
)

// ReadHeaders reads a file with headers for the collector, one on each line as in "Authorization: Bearer TEXT". Empty lines and
// those that begin with # say nothing. No other user may read the file.
func ReadHeaders(file string) (map[string]string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("read headers for the collector of traces: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 && os.PathSeparator == '/' {
		return nil, fmt.Errorf("other users can read %s (mode %#o), or it is no file: run chmod 600 %s", file, mode.Perm(), file)
	}
	if info.Size() > maxHeaderBytes {
		return nil, fmt.Errorf("%s has more than the %d bytes that headers may have", file, maxHeaderBytes)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read headers for the collector of traces: %w", err)
	}
	headers, err := parseHeaders(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	return headers, nil
}

// parseHeaders reads the lines of a file. An error begins with the number of a line.
func parseHeaders(text []byte) (map[string]string, error) {
	headers := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxHeaderBytes)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || !isToken(name) || !isVisible(value) {
			return nil, fmt.Errorf("%d: this is no header: write it like \"Authorization: Bearer TEXT\"", n)
		}
		if headers[name] = value; len(headers) > maxHeaders {
			return nil, fmt.Errorf("%d: there are more than %d headers", n, maxHeaders)
		}
	}
	return headers, lines.Err()
}

// tokenBytes are the characters of the name of a header, beside letters and digits.
const tokenBytes = "!#$%&'*+-.^_`|~"

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(tokenBytes, r)
	})
}

func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// FromEnvironment gives the Config that the standard variables of OpenTelemetry say: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, a whole
// URL, or OTEL_EXPORTER_OTLP_ENDPOINT, to which /v1/traces is added; OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
// The endpoint is empty if they name none, or turn traces off by OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none. Those of
// headers, certificates, timeouts and the resource apply to all collectors.
func FromEnvironment(get func(name string) string) (Config, error) {
	c := Config{Sample: 1}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || get("OTEL_TRACES_EXPORTER") == "none" {
		return c, nil
	}
	if c.Endpoint = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); c.Endpoint == "" {
		if base := get("OTEL_EXPORTER_OTLP_ENDPOINT"); base != "" {
			c.Endpoint = strings.TrimSuffix(base, "/") + otlpPath
		}
	}
	if c.Endpoint == "" {
		return c, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := get(name); p != "" {
			if p != "http/protobuf" {
				return Config{}, fmt.Errorf("%s=%s: traces are sent by http/protobuf alone", name, p)
			}
			break
		}
	}
	err := c.sampleBy(get("OTEL_TRACES_SAMPLER"), get("OTEL_TRACES_SAMPLER_ARG"))
	return c, err
}

// sampleBy sets Sample as the variables of OpenTelemetry say.
func (c *Config) sampleBy(sampler, arg string) (err error) {
	switch strings.TrimPrefix(sampler, "parentbased_") {
	case "", "always_on":
	case "always_off":
		c.Sample = 0
	case "traceidratio":
		if arg == "" {
			return nil
		}
		if c.Sample, err = strconv.ParseFloat(arg, 64); err != nil {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s is not a number from 0 to 1", arg)
		}
	default:
		return fmt.Errorf("OTEL_TRACES_SAMPLER=%s: it is one of always_on, always_off and traceidratio, or parentbased_ and one of them", sampler)
	}
	return nil
}
