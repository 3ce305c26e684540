package textenc

// AppendTextByWords is AppendText as it is on processors without escapeBlocks.
func AppendTextByWords(dst, p []byte) ([]byte, bool) { return appendText(dst, p, false) }

// AppendStringByWords is AppendString as it is there.
func AppendStringByWords(dst []byte, s string) []byte { return appendString(dst, s, false) }

// An Escaper is one of the two, with the room and the input it needs to go on.
type Escaper struct {
	Escape      func(dst, src []byte) (wrote, read int)
	Room, Input int
}

// Escapers are by name.
var Escapers = map[string]Escaper{
	"blocks": {escapeFast, blockRoom, blockInput},
	"words":  {escapeWords, wordRoom, wordInput},
}

// escapeFast is escapeBlocks where there is one.
func escapeFast(dst, src []byte) (wrote, read int) {
	if hasBlocks {
		return escapeBlocks(dst, src)
	}
	return escapeWords(dst, src)
}
