package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A style is how figures are drawn.
type style struct {
	width int  // columns there are
	ascii bool // with these characters only
}

const unknownWidth = 80 // columns, where there is no terminal to ask

func styleOf(w io.Writer) style {
	return style{width: cmp.Or(terminalWidth(w), unknownWidth), ascii: !speaksUTF8()}
}

// speaksUTF8 reports whether what is printed is shown as UTF-8.
func speaksUTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return os.Getenv("TERM") != "dumb" && (strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8"))
}

// blocks are those that fill eighths of a column, from the left.
var blocks = []rune("▏▎▍▌▋▊▉█")

// bar is a bar for a share from 0 to 1 of so many columns, at least visible unless it is for nothing.
func (s style) bar(share float64, columns int) string {
	if share <= 0 || columns <= 0 {
		return ""
	}
	if s.ascii {
		return strings.Repeat("#", max(1, int(share*float64(columns)+0.5)))
	}
	eighths := max(1, int(share*float64(columns*len(blocks))+0.5))
	whole, rest := eighths/len(blocks), eighths%len(blocks)
	text := strings.Repeat(string(blocks[len(blocks)-1]), whole)
	if rest > 0 {
		text += string(blocks[rest-1])
	}
	return text
}

// either gives a text, or what stands for it where there is only ASCII.
func (s style) either(text, ascii string) string {
	if s.ascii {
		return ascii
	}
	return text
}

// latency prints a time with three digits.
func (s style) latency(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {s.either("µs", "us"), time.Microsecond}} {
		if d >= unit.size {
			return threeDigits(float64(d)/float64(unit.size)) + " " + unit.name
		}
	}
	return strconv.Itoa(int(d)) + " ns"
}

// bound prints the bound of a bucket, which has two digits.
func (s style) bound(d time.Duration) string {
	number, unit, _ := strings.Cut(s.latency(d), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

func threeDigits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// numbered gives a number of things, as in "1 read" or "2 reads".
func numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// perSecond prints a rate for people.
func perSecond(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return grouped(uint64(rate + 0.5))
}

// paragraph prints a name and a text beside it, whose lines end where the columns do, between words.
func (s style) paragraph(w io.Writer, name string, indent int, text string) {
	line := name + strings.Repeat(" ", max(indent-utf8.RuneCountInString(name), 0))
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > s.width {
			fmt.Fprintln(w, line)
			line, i = strings.Repeat(" ", indent), 0
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// figures prints rows whose first cell is a name, cut where the row would be too wide, and the others numbers.
func (s style) figures(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	left := s.width
	for _, width := range widths[1:] {
		left -= width + columnGap
	}
	widths[0] = min(widths[0], max(left, leastWidth))
	for _, row := range rows {
		line := s.clip(row[0], widths[0])
		line += strings.Repeat(" ", widths[0]-utf8.RuneCountInString(line))
		for i, cell := range row[1:] {
			line += strings.Repeat(" ", columnGap+widths[i+1]-utf8.RuneCountInString(cell)) + cell
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// clip shortens a text to so many columns.
func (s style) clip(text string, columns int) string {
	if s.ascii && utf8.RuneCountInString(text) > columns {
		return string([]rune(text)[:max(columns-3, 0)]) + "..."
	}
	return clip(text, columns)
}
