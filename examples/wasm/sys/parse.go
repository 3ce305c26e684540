package main

import (
	"errors"
	"strconv"
	"strings"
)

// load is what /proc/loadavg tells: see proc_loadavg(5).
type load struct {
	One     float64 `json:"1m"`
	Five    float64 `json:"5m"`
	Fifteen float64 `json:"15m"`
	Running int     `json:"running"` // threads
	Threads int     `json:"threads"`
}

// parseLoad reads a text such as "0.20 0.18 0.12 1/80 11206".
func parseLoad(text string) (l load, err error) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return l, errors.New("fewer than four fields")
	}
	for i, mean := range []*float64{&l.One, &l.Five, &l.Fifteen} {
		if *mean, err = strconv.ParseFloat(fields[i], 64); err != nil {
			return l, err
		}
	}
	running, threads, _ := strings.Cut(fields[3], "/")
	if l.Running, err = strconv.Atoi(running); err == nil {
		l.Threads, err = strconv.Atoi(threads)
	}
	return l, err
}

// memory is what /proc/meminfo tells, in bytes: see proc_meminfo(5).
type memory struct {
	Total     int64 `json:"total"`
	Free      int64 `json:"free"`
	Available int64 `json:"available"`
	SwapTotal int64 `json:"swapTotal"`
	SwapFree  int64 `json:"swapFree"`
}

// parseMemory reads lines such as "MemTotal:  1882064 kB". Without the line MemTotal it is an error.
func parseMemory(text string) (m memory, err error) {
	figures := map[string]*int64{"MemTotal": &m.Total, "MemFree": &m.Free, "MemAvailable": &m.Available,
		"SwapTotal": &m.SwapTotal, "SwapFree": &m.SwapFree}
	found := false
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		figure := figures[name]
		if figure == nil {
			continue
		}
		number, ok := strings.CutSuffix(strings.TrimSpace(value), " kB")
		kilobytes, err := strconv.ParseInt(number, 10, 53)
		if err != nil || !ok {
			return m, errors.New("not a number of kB: " + strconv.Quote(line))
		}
		*figure = kilobytes << 10
		found = found || name == "MemTotal"
	}
	if !found {
		return m, errors.New("no line MemTotal")
	}
	return m, nil
}
