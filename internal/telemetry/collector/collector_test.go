package collector_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/telemetry/collector"
)

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:4318":                "http://127.0.0.1:4318/v1/traces",
		"https://collector.example/":           "https://collector.example/v1/traces",
		"https://collector.example/otlp?a=b":   "https://collector.example/otlp?a=b",
		"http://[::1]:4318/v1/traces":          "http://[::1]:4318/v1/traces",
		"":                                     "",
		"127.0.0.1:4318":                       "",
		"grpc://127.0.0.1:4317":                "",
		"http://":                              "",
		"http://:4318":                         "",
		"https://ada:secret@collector.example": "",
		"http://a\nb":                          "",
		"http://a#b":                           "",
	} {
		got, err := collector.EndpointURL(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string]float64{"0%": 0, "0.5%": 0.005, "10%": 0.1, "100%": 1} {
		if got, err := collector.ParseShare(text); got != want || err != nil {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "10", "0.1", "-1%", "101%", "NaN%", "Inf%", "1e999%", "ten%"} {
		if got, err := collector.ParseShare(text); err == nil {
			t.Errorf("%q is the share %v", text, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	for _, c := range []struct {
		text, wrong string
		mode        os.FileMode
		want        map[string]string
	}{
		{text: "# of the collector\n\nAuthorization: Bearer a:b \r\nX-Scope-OrgID:7\n", want: map[string]string{"Authorization": "Bearer a:b", "X-Scope-OrgID": "7"}},
		{text: "", want: map[string]string{}},
		{text: "ok: 1\nno header\n", wrong: ":2: this is no header"},
		{text: "a b: 1\n", wrong: ":1: "},
		{text: ": 1\n", wrong: ":1: "},
		{text: "a: \x01\n", wrong: ":1: "},
		{text: "ä: 1\n", wrong: ":1: "},
		{text: strings.Repeat("a", 70_000), wrong: "more than the 65536 bytes"},
		{text: headers(33), wrong: ":33: there are more than 32"},
		{text: "a: 1\n", mode: 0o644, wrong: "run chmod 600"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, max(c.mode, 0o600)); err != nil {
			t.Fatal(err)
		}
		got, err := collector.ReadHeaders(file)
		if c.wrong == "" && (err != nil || !maps.Equal(got, c.want)) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%.40q: got %v, %v", c.text, got, err)
		}
	}
	if _, err := collector.ReadHeaders(file + ".none"); err == nil {
		t.Error("a file that does not exist was read")
	}
}

// headers are so many lines.
func headers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("h" + strings.Repeat("x", i) + ": 1\n")
	}
	return b.String()
}

func TestTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env      map[string]string
		endpoint string
		sample   float64
		wrong    string
	}{
		{sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, endpoint: "http://c:4318/v1/traces", sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/otlp/"}, endpoint: "http://c/otlp/v1/traces", sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"}, endpoint: "http://t/x", sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "TRUE"}, sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, sample: 1},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"}, endpoint: "http://c/v1/traces", sample: 0.25},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "always_off"}, endpoint: "http://c/v1/traces"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "jaeger_remote"}, wrong: "OTEL_TRACES_SAMPLER=jaeger_remote"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "x"}, wrong: "OTEL_TRACES_SAMPLER_ARG=x"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, wrong: "http/protobuf alone"},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, sample: 1}, // of another program
	} {
		got, err := collector.FromEnvironment(func(name string) string { return c.env[name] })
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v: got %v", c.env, err)
			}
			continue
		}
		if err != nil || got.Endpoint != c.endpoint || got.Sample != c.sample {
			t.Errorf("%v: got %+v, %v", c.env, got, err)
		}
	}
}

// Whatever a file has, a header that is read can be sent.
func FuzzHeaders(f *testing.F) {
	f.Add("Authorization: Bearer x\n#\n\na:b")
	f.Add("a: b\r\nc: d\r\x00")
	file := filepath.Join(f.TempDir(), "headers")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := collector.ReadHeaders(file)
		if err != nil {
			return
		}
		for name, value := range got {
			if name == "" || strings.ContainsAny(name, ": \r\n\t\x00") || strings.ContainsAny(value, "\r\n\x00") || len(got) > 32 {
				t.Errorf("%q: %q", name, value)
			}
		}
	})
}
