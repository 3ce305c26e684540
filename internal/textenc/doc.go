// Package textenc appends text and bytes to JSON output: strings with escapes, and base64.
//
// It owns the two encoders every large result passes through, whole and in pieces, as guests hand them over, and the
// buffers they write to. Text is checked to be UTF-8 on the way, a few kilobytes before it is escaped. Nothing is
// escaped that JSON lets stand: no HTML characters, no U+2028. The checking and the base64 are a library's; the
// escaping is ours, in assembly where the processor has AVX2, eight bytes at a time elsewhere. No encoder leaves
// anything in dst beyond what it appends.
//
// Any package that writes JSON may import it; it imports nothing of wasmres, and knows nothing of messages.
package textenc
