//go:build !amd64 || purego

package textenc

const hasBlocks = false

// escapeBlocks is escapeWords on this processor.
func escapeBlocks(dst, src []byte) (wrote, read int) { return escapeWords(dst, src) }
