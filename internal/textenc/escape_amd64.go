//go:build !purego

package textenc

import (
	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"
)

// hasBlocks reports whether the processor can run escapeBlocks, which takes a quarter of the time of escapeWords.
var hasBlocks = cpu.X86.Has(x86.AVX2)

// escapeBlocks writes the escaped form of src to dst for as long as src has blockInput and dst has blockRoom bytes
// left. It cannot be interrupted, so src must be short.
//
//go:noescape
func escapeBlocks(dst, src []byte) (wrote, read int)
