//go:build unix

package terminal

import (
	"image"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	answerTime = time.Second // for the answer of a terminal, which may be far away
	maxReply   = 256         // bytes
	sixels     = "4"         // among the attributes of a terminal
	lastLines  = 2           // of a screen: the prompt that follows
)

// Sixels returns the room for sixel graphics on the terminal w, in pixels, if the terminal says that it draws them. It asks for the
// primary attributes of the terminal, and waits for a second at most. Keys that are pressed meanwhile are lost. The terminal must be
// that of stdin, and the process in its foreground.
func Sixels(w io.Writer) (room image.Point, ok bool) {
	if !IsTerminal(w) || !IsTerminal(os.Stdin) || os.Getenv("TERM") == "dumb" {
		return image.Point{}, false
	}
	in, out := int(os.Stdin.Fd()), w.(*os.File)
	if group, err := unix.IoctlGetInt(in, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return image.Point{}, false // the kernel would stop the process
	}
	if !slices.Contains(attributes(in, out), sixels) {
		return image.Point{}, false
	}
	size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return image.Point{}, false
	}
	room = image.Pt(int(size.Xpixel), int(size.Ypixel))
	if room.X == 0 || room.Y == 0 { // the terminal does not say
		room = image.Pt(int(size.Col)*8, int(size.Row)*16)
	}
	return image.Pt(room.X, room.Y*max(int(size.Row)-lastLines, 1)/max(int(size.Row), 1)), true
}

// attributes asks a terminal for its primary attributes; none if it does not answer in time.
func attributes(in int, out *os.File) []string {
	old, err := term.MakeRaw(in)
	if err != nil {
		return nil
	}
	defer func() { _ = term.Restore(in, old) }()
	if _, err := out.WriteString("\x1b[c"); err != nil {
		return nil
	}
	var answer []byte
	for end := time.Now().Add(answerTime); len(answer) < maxReply; {
		if found := attributesAnswer.FindSubmatch(answer); found != nil {
			return strings.Split(string(found[1]), ";")
		}
		ready := []unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(max(time.Until(end).Milliseconds(), 0)))
		if err == unix.EINTR {
			continue
		}
		b := make([]byte, maxReply-len(answer))
		if n > 0 {
			n, err = unix.Read(in, b)
		}
		if n <= 0 || err != nil {
			return nil
		}
		answer = append(answer, b[:n]...)
	}
	return nil
}

var attributesAnswer = regexp.MustCompile(`\x1b\[\?([0-9;]*)c`)
