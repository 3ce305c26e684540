package main

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
)

// types has the media types of pictures, by the ends of their names.
var types = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}

// A screenshot is a picture in the folder, as display1.png or display1-2026-11-23T16-00-00.png.
type screenshot struct {
	name  string
	size  int64
	taken time.Time
}

// display returns what stands before the first dash or dot of the name.
func (s screenshot) display() string { return s.name[:strings.IndexAny(s.name, "-.")] }

func (s screenshot) mime() string { return types[strings.ToLower(path.Ext(s.name))] }

func (s screenshot) etag() string {
	return s.name + "-" + strconv.FormatInt(s.taken.UnixMilli(), 36) + "-" + strconv.FormatInt(s.size, 36)
}

// screenshots returns the newest picture of each display, by the names of displays. Of two that are equally old the
// later name counts.
func screenshots() ([]screenshot, error) {
	entries, err := wasmres.Dir(root).ReadDir(".")
	if err != nil {
		return nil, explain(err)
	}
	newest := map[string]screenshot{}
	for _, e := range entries {
		s, ok := screenshotOf(e)
		if ok && !newest[s.display()].taken.After(s.taken) {
			newest[s.display()] = s
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b screenshot) int { return cmp.Compare(a.display(), b.display()) }), nil
}

// screenshotOf returns the picture that an entry of the folder is. Names of displays are those that need no escape in a
// URI, so that names that begin with a dot are none.
func screenshotOf(e fs.DirEntry) (s screenshot, ok bool) {
	end := strings.IndexAny(e.Name(), "-.")
	if end < 1 || strings.ContainsFunc(e.Name()[:end], isOdd) || types[strings.ToLower(path.Ext(e.Name()))] == "" || e.IsDir() {
		return s, false
	}
	info, err := e.Info()
	if err != nil {
		return s, false // it is gone
	}
	return screenshot{e.Name(), info.Size(), info.ModTime()}, true
}

func isOdd(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
}
