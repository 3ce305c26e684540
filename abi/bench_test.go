package abi_test

import (
	"fmt"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// page is a list page as a provider of a database would emit it.
func page(n int) *abi.Reply {
	r := &abi.Reply{NextCursor: fmt.Sprint(n), TTLMillis: 60_000}
	for i := range n {
		r.Resources = append(r.Resources, abi.Resource{
			URI: fmt.Sprintf("users://%d/profile", i), Name: fmt.Sprintf("user-%d", i), Title: fmt.Sprintf("User %d", i),
			Description: "One user of the directory, with name, address and the groups the user is in.",
			MIMEType:    "application/json", Size: uint64(100 + i), Priority: 0.5,
			LastModified: "2026-11-20T10:00:00Z", Audience: abi.AudienceUser,
		})
	}
	return r
}

type discard struct{}

func (discard) Content(*abi.Content) error { return nil }
func (discard) Progress(abi.Progress)      {}
func (discard) Continue() error            { return nil }

func BenchmarkDecodePage(b *testing.B) {
	frame := page(1000).Append(nil)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		var r abi.Reply
		if err := r.Merge(frame, 10_000, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendPage(b *testing.B) {
	r := page(1000)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.Append(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func readRequest() *abi.Request {
	return &abi.Request{
		URI: "users://42", Route: 1, Vars: []abi.Var{{Name: "user_id", Value: "42"}}, MaxBytes: 64 << 20,
		Principal: &abi.Principal{Subject: "ada", Tenant: "acme", Scopes: []string{"read"}},
	}
}

func BenchmarkAppendReadRequest(b *testing.B) {
	r := readRequest()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.Append(buf[:0])
	}
}

func BenchmarkDecodeReadRequest(b *testing.B) {
	frame := readRequest().Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		var r abi.Request
		if err := r.Decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeText is the whole boundary work of a small read: one content with its text inline.
func BenchmarkDecodeText(b *testing.B) {
	c := abi.Content{URI: "users://42", MIMEType: "text/plain", Kind: abi.KindText, Inline: []byte("user 42: Ada Lovelace, ada@example.org")}
	frame := c.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		var r abi.Reply
		if err := r.Merge(frame, 10, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}
