// Package wire appends text and bytes to JSON output: strings with escapes, and base64.
//
// It owns the two encoders every large result passes through, whole and in pieces, as guests hand them over. Text is
// checked to be UTF-8 in the same pass. Nothing is escaped that JSON lets stand: no HTML characters, no U+2028.
//
// Whoever writes JSON may import it; it imports nothing of wasmres, and knows nothing of messages.
package wire
