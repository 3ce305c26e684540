package abi_test

import (
	"bytes"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

func badVectors() map[string]vector {
	bad := func(message, about, raw, why string) vector {
		return vector{message: message, about: about, raw: unhex(raw), code: abi.CodeProtocol, why: why}
	}
	return map[string]vector{
		"bad-length":          bad("Request", "A length one byte beyond the end.", "0a 05 'abcd'", "truncated or not a field"),
		"bad-length-huge":     bad("Request", "A length of 2^64-1.", "0a ff ff ff ff ff ff ff ff ff 01 00", "truncated or not a field"),
		"bad-length-padded":   bad("Request", "A length padded to six bytes.", "0a 81 80 80 80 80 00 'a'", "truncated or not a field"),
		"bad-tag-padded":      bad("Request", "A tag padded to six bytes.", "8a 80 80 80 80 00 01 'a'", "truncated or not a field"),
		"bad-length-missing":  bad("Request", "A tag without its length.", "0a", "truncated or not a field"),
		"bad-number-cut":      bad("Request", "A number that does not end.", "10 ff", "truncated or not a field"),
		"bad-number-long":     bad("Request", "A number of eleven bytes.", "10 80 80 80 80 80 80 80 80 80 80 00", "truncated or not a field"),
		"bad-number-overflow": bad("Request", "A number of more than 64 bits.", "30 ff ff ff ff ff ff ff ff ff 02", "truncated or not a field"),
		"bad-number-uint32":   bad("Request", "The number 2^32 in a field of 32 bits.", "10 80 80 80 80 10", "field 2: number out of range"),
		"bad-fixed32-cut":     bad("Request", "An unknown fixed32 field of three bytes.", "b5 06 01 02 03", "truncated or not a field"),
		"bad-fixed64-cut":     bad("Reply", "A fixed64 field of seven bytes.", "0a 08 39 01 02 03 04 05 06 07", "field 1: truncated or not a field"),
		"bad-field-zero":      bad("Request", "A field numbered 0.", "00 01", "truncated or not a field"),
		"bad-field-number":    bad("Request", "An unknown field numbered 2^29.", "80 80 80 80 10 00", "truncated or not a field"),
		"bad-group":           bad("Request", "A group, even an unknown and well-formed one.", "a3 06 a4 06", "truncated or not a field"),
		"bad-wire-type-6":     bad("Request", "Wire type 6, which does not exist.", "a6 06 00", "truncated or not a field"),
		"bad-wire-type-7":     bad("Request", "Wire type 7, which does not exist.", "a7 06 00", "truncated or not a field"),
		"bad-type-text":       bad("Request", "A number where the URI belongs.", "08 01", "field 1: wrong wire type"),
		"bad-type-number":     bad("Request", "A text where a number belongs: packed or not, nothing here is repeated.", "12 01 01", "field 2: wrong wire type"),
		"bad-type-message":    bad("Request", "A number where a message belongs.", "18 01", "field 3: wrong wire type"),
		"bad-type-priority":   bad("Reply", "A priority that is not fixed64.", "0a 02 38 01", "field 1.7: wrong wire type"),
		"bad-text-utf8":       bad("Request", "A URI that is not UTF-8.", "0a 02 c3 28", "field 1: not UTF-8"),
		"bad-text-surrogate":  bad("Request", "A URI with a UTF-16 surrogate.", "0a 03 ed a0 80", "field 1: not UTF-8"),
		"bad-embedded-cut":    bad("Reply", "An embedded message whose own field reaches beyond it, though the frame has the bytes.", "0a 04 0a 03 'a:' 0a 04 'more'", "field 1: truncated or not a field"),
		"bad-embedded-deep":   bad("Reply", "The fault is four messages deep: manifest, template, icon, size.", "4a 08 32 06 52 04 1a 02 'x' ff", "field 9.6.10.3: not UTF-8"),
		"bad-content-both":    bad("Reply", "Text and blob in one content.", "1a 0c 0a 04 'a:bc' 1a 01 't' 22 01 00", "field 3.4: both text and blob"),
		"bad-content-kind":    bad("Reply", "A kind that contradicts the inline bytes.", "1a 0b 0a 04 'a:bc' 1a 01 't' 28 02", "field 3: kind contradicts"),
		"bad-content-kind-3":  bad("Reply", "A kind that does not exist.", "1a 08 0a 04 'a:bc' 28 03", "field 3.5: number out of range"),
		"bad-second-manifest": bad("Reply", "Two manifests.", "4a 03 12 01 'p' 4a 03 12 01 'p'", "field 9: second manifest"),
		"bad-cursor":          {message: "Reply", about: "A cursor of 4097 bytes, of which 4096 are allowed.", raw: lengthened(4, bytes.Repeat([]byte{'c'}, 4097)), code: abi.CodeProtocol, why: "next_cursor of 4097"},
		"bad-icons":           {message: "Reply", about: "Seventeen icons, of which sixteen are allowed.", raw: lengthened(1, bytes.Repeat(unhex("52 00"), 17)), code: abi.CodeTooMany, why: "more than 16 icons"},
		"bad-config-request":  bad("ConfigRequest", "A number where the key belongs.", "08 01", "field 1: wrong wire type"),
		"bad-notify-request":  bad("NotifyRequest", "A URI that is cut.", "0a 09 'users:'", "truncated or not a field"),
		"bad-file-request":    bad("FileRequest", "A text where the offset belongs.", "0a 01 '/' 12 01 '0'", "field 2: wrong wire type"),
		"bad-file-response":   bad("FileResponse", "A name that is not UTF-8.", "0a 03 0a 01 ff", "field 1.1: not UTF-8"),
		"bad-config-response": bad("ConfigResponse", "Bytes after the message that are no field.", "0a 01 'v' 00", "truncated or not a field"),
		"bad-trailing":        bad("Request", "Bytes after the message that are no field.", "0a 04 'a://' 00 00", "truncated or not a field"),
	}
}

// badManifestVectors are well-formed but break a rule.
func badManifestVectors() map[string]vector {
	bad := func(about string, code abi.Code, why string, change func(m *abi.Manifest)) vector {
		m := &abi.Manifest{Name: "p", Ops: 1 << abi.OpRead}
		change(m)
		return vector{message: "Manifest", about: about, raw: m.Append(nil), code: code, why: why}
	}
	return map[string]vector{
		"bad-manifest-name":       bad("No name.", abi.CodeProtocol, "has no name", func(m *abi.Manifest) { m.Name = "" }),
		"bad-manifest-name-long":  bad("A name of 257 bytes, of which 256 are allowed.", abi.CodeProtocol, "name of 257", func(m *abi.Manifest) { m.Name = strings.Repeat("n", 257) }),
		"bad-manifest-minor":      bad("A minor version no host speaks yet.", abi.CodeIncompatible, "use a newer wasmres", func(m *abi.Manifest) { m.Minor = 1 << 31 }),
		"bad-manifest-uri":        bad("A static resource whose URI leaves its folder.", abi.CodeInvalidURI, "resource 0: uri", func(m *abi.Manifest) { m.Resources = []abi.Resource{{URI: "file:///a/../b", Name: "b"}} }),
		"bad-manifest-capability": bad("A capability asked for twice.", abi.CodeProtocol, "capability 1", func(m *abi.Manifest) { m.Capabilities = []abi.Capability{{Name: "fs"}, {Name: "fs"}} }),
		"bad-manifest-reason":     bad("A reason with an escape sequence for terminals.", abi.CodeProtocol, "control character", func(m *abi.Manifest) { m.Capabilities = []abi.Capability{{Name: "fs", Reason: "\x1b[2Jnothing"}} }),
		"bad-manifest-prefix":     bad("A URI prefix that is not even a scheme.", abi.CodeInvalidURI, "uri_prefix 0", func(m *abi.Manifest) { m.URIPrefixes = []string{"users"} }),
		"bad-manifest-schema":     bad("A configuration schema that is no JSON object.", abi.CodeProtocol, "config_schema_json", func(m *abi.Manifest) { m.ConfigSchema = "true" }),
	}
}
