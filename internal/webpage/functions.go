package webpage

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// functions are those of all templates.
var functions = template.FuncMap{ // never changed
	"size": sizeOf, "count": Count, "short": Short, "moment": moment, "machine": machine, "digest": shortDigest, "seconds": Seconds, "took": took, "float": func(n int64) float64 { return float64(n) }, "millis": millis, "has": has, "now": func() string { return machine(time.Now()) },
}

// Size writes bytes for a person, as in 2.4 MiB.
func Size(n float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		switch {
		case n < 1024 && (unit == "B" || n >= 100):
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + unit
		case n < 1024:
			return strconv.FormatFloat(n, 'f', 1, 64) + " " + unit
		}
		n /= 1024
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " PiB"
}

// sizeOf is Size for the numbers that templates have.
func sizeOf(v any) (string, error) {
	switch n := v.(type) {
	case int:
		return Size(float64(n)), nil
	case int64:
		return Size(float64(n)), nil
	case uint64:
		return Size(float64(n)), nil
	case float64:
		return Size(n), nil
	}
	return "", fmt.Errorf("%T is not a number of bytes", v)
}

// Count writes a number for a person, as in 12,345.
func Count(n any) string {
	s := fmt.Sprint(n)
	digits := strings.TrimPrefix(s, "-")
	if strings.Trim(digits, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return s[:len(s)-len(digits)] + b.String()
}

// Short returns at most so many characters of a text.
func Short(most int, s string) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// timeOf returns a time, or what a pointer to one has; zero for none.
func timeOf(v any) time.Time {
	switch t := v.(type) {
	case time.Time:
		return t
	case *time.Time:
		if t != nil {
			return *t
		}
	}
	return time.Time{}
}

// moment writes a time for a person, in UTC.
func moment(v any) string {
	t := timeOf(v)
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// machine writes a time for a program.
func machine(v any) string { return timeOf(v).UTC().Format(time.RFC3339) }

// Seconds writes seconds for a person, as in 1.5 s or 2 h 5 min.
func Seconds(n float64) string {
	decimals := func(f float64, unit string) string { return strconv.FormatFloat(f, 'f', 1, 64) + unit }
	switch d := time.Duration(n * float64(time.Second)); {
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return decimals(n*1e6, " µs")
	case d < time.Second:
		return decimals(n*1e3, " ms")
	case d < time.Minute:
		return decimals(n, " s")
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// took writes a duration for a person.
func took(d time.Duration) string { return Seconds(d.Seconds()) }

// millis writes microseconds for a person.
func millis(n int64) string {
	if n == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " ms"
}

// shortDigest returns the first digits of a digest.
func shortDigest(s string) string {
	_, digits, ok := strings.Cut(s, ":")
	if !ok {
		digits = s
	}
	return digits[:min(len(digits), 12)]
}

func has(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
