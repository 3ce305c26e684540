package main

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	wasmres "github.com/wasmres/wasmres/guest-sdk/go"
	"github.com/wasmres/wasmres/guest-sdk/go/wasmrestest"
)

const meminfo = `MemTotal:        1000 kB
MemFree:          300 kB
MemAvailable:     700 kB
HugePages_Total:    0
SwapTotal:         20 kB
SwapFree:           0 kB
`

func start(t *testing.T, loadavg, meminfo string) *wasmrestest.Provider {
	p := wasmrestest.New(t)
	p.Mounts = map[string]fs.FS{root: fstest.MapFS{
		"loadavg": {Data: []byte(loadavg)}, "meminfo": {Data: []byte(meminfo)},
	}}
	return p
}

func TestFigures(t *testing.T) {
	p := start(t, "0.20 1.18 10.12 1/80 11206\n", meminfo)
	for uri, want := range map[string]string{
		"sys://load":   `{"1m":0.2,"5m":1.18,"15m":10.12,"running":1,"threads":80}`,
		"sys://memory": `{"total":1024000,"free":307200,"available":716800,"swapTotal":20480,"swapFree":0}`,
	} {
		if got := p.Text(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
	if listed := p.List(); len(listed) != 2 || listed[0].URI != "sys://load" || listed[1].URI != "sys://memory" {
		t.Errorf("got the list %+v", listed)
	}
}

func TestFiguresCanBeFollowed(t *testing.T) {
	const uri = "sys://load"
	p := start(t, "0.20 1.18 10.12 1/80 11206\n", meminfo)
	if every, err := p.Subscribe(uri); every != watchEvery || err != nil {
		t.Errorf("got %v, %v", every, err)
	}
	before, _, err := p.Poll(uri, "")
	if before == "" || err != nil {
		t.Errorf("got %q, %v", before, err)
	}
	p.Mounts[root] = fstest.MapFS{"loadavg": {Data: []byte("0.20 1.18 10.12 1/80 11207\n")}} // another process has ended
	if _, changed, err := p.Poll(uri, before); changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
	p.Mounts[root] = fstest.MapFS{"loadavg": {Data: []byte("0.25 1.18 10.12 1/80 11207\n")}}
	if _, changed, err := p.Poll(uri, before); !changed || err != nil {
		t.Errorf("got changed %t, %v", changed, err)
	}
}

func TestUnknownForms(t *testing.T) {
	for _, text := range []string{"", "0.1 0.2 0.3", "0.1 0.2 x 1/2 3", "0.1 0.2 0.3 12 3", "0.1 0.2 0.3 1/x 3"} {
		if _, err := start(t, text, meminfo).Read("sys://load"); !errors.Is(err, wasmres.ErrUnavailable) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	for _, text := range []string{
		"", "MemFree: 1 kB\n", "MemTotal: 1\n", "MemTotal: -1x kB\n", "MemTotal: " + strings.Repeat("9", 17) + " kB\n",
	} {
		if _, err := start(t, "", text).Read("sys://memory"); !errors.Is(err, wasmres.ErrUnavailable) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestNothingGranted(t *testing.T) {
	p := wasmrestest.New(t)
	if _, err := p.Read("sys://load"); !errors.Is(err, wasmres.ErrDenied) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("got %v", err)
	}
	p.Mounts = map[string]fs.FS{root: fstest.MapFS{}}
	if _, err := p.Read("sys://load"); !errors.Is(err, wasmres.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
