package runtime

import (
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

// A Content is one content of a resource. Inline is not set: Data has all bytes.
type Content struct {
	abi.Content
	Data []byte // UTF-8 when Kind is abi.KindText
}

// Text returns Data as a string.
func (c *Content) Text() string { return string(c.Data) }

// A collector is a sink that stores all contents, and ends the call if a text is not UTF-8. The limits of the call
// bound it.
type collector struct {
	contents []Content
	checked  int // bytes of the last content, from its start, that are UTF-8
}

var errNotText = abi.Errorf(abi.CodeInvalidText, "the provider sent a text that is not UTF-8")

// Content implements [abi.Sink].
func (c *collector) Content(head *abi.Content) error {
	if err := c.endText(); err != nil {
		return err
	}
	own := Content{Content: *head}
	own.Inline, c.checked = nil, 0
	c.contents = append(c.contents, own)
	return nil
}

// Body implements [abi.Sink].
func (c *collector) Body(p []byte) error {
	last := &c.contents[len(c.contents)-1]
	last.Data = append(last.Data, p...)
	if last.Kind != abi.KindText {
		return nil
	}
	whole := c.checked + wholeCharacters(last.Data[c.checked:])
	if !utf8.Valid(last.Data[c.checked:whole]) {
		return errNotText
	}
	c.checked = whole
	return nil
}

// wholeCharacters returns the length of p without an incomplete character at its end.
func wholeCharacters(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				break
			}
			return i
		}
	}
	return len(p)
}

// endText checks that the last text ends with a whole character.
func (c *collector) endText() error {
	if len(c.contents) == 0 {
		return nil
	}
	if last := &c.contents[len(c.contents)-1]; last.Kind == abi.KindText && c.checked < len(last.Data) {
		return errNotText
	}
	return nil
}

// Progress implements [abi.Sink].
func (c *collector) Progress(abi.Progress) {}

// end checks the contents by the rules for clients.
func (c *collector) end() error {
	if len(c.contents) == 0 {
		return abi.Errorf(abi.CodeInternal, "the provider gave no content")
	}
	return c.endText()
}
