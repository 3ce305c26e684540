package policy_test

import (
	"testing"

	"github.com/wasmres/wasmres/internal/policy"
)

// FuzzFlags checks that complete flags grant just what their policy does.
func FuzzFlags(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(permissions(`  storage: {allow: [{uri: "fs:///a:b", guest: /c, access: [read]}]}`)))
	f.Add([]byte(permissions(`  network: {allow: [{host: "::1", ports: [80], methods: [POST], paths: [/a], private: true}]}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Parse("policy.yaml", text)
		if err != nil {
			return
		}
		flags, complete := p.Flags()
		if !complete {
			return
		}
		again, err := policy.FromFlags(flags)
		if err != nil {
			t.Fatal(err)
		}
		if !policy.Covers(p, again) || !policy.Covers(again, p) {
			t.Fatalf("%q\nis %q, want %q", flags.Args(), again.Lines(), p.Lines())
		}
	})
}
