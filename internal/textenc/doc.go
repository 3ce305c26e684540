// Package textenc appends text and bytes to JSON output: strings with escapes, and base64.
//
// It owns the two encoders of large results, for whole values and for pieces as guests push them, and the buffers for
// their output. They check that text is UTF-8, a few kilobytes before they escape it. They escape only characters for
// which JSON requires it: no HTML characters, no U+2028. A library checks UTF-8 and encodes base64. This package
// escapes, in assembly if the processor has AVX2, and otherwise eight bytes at a time. No encoder changes dst beyond
// the bytes that it appends.
//
// Any package that writes JSON may import it; it imports nothing of wasmres, and knows nothing of messages.
package textenc
