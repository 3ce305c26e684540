//go:build !amd64 || purego

package textenc

const hasBlocks = false

// escapeBlocks is for processors that can do better than escapeWords.
func escapeBlocks(dst, src []byte) (wrote, read int) { return escapeWords(dst, src) }
