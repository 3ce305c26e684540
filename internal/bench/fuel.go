package bench

import "slices"

// Fuel is the fuel of single requests. It is zero when there was no request.
type Fuel struct {
	Min, Median, Max uint64
}

// maxFuels bounds the requests of a worker whose fuel is stored: the median is of the first that many.
const maxFuels = 1 << 16

// A fuelGauge records the fuel of requests.
type fuelGauge struct {
	kept     []uint64
	min, max uint64 // of all
}

func (g *fuelGauge) add(fuel uint64) {
	if len(g.kept) == 0 {
		g.min = fuel
	}
	g.min, g.max = min(g.min, fuel), max(g.max, fuel)
	if len(g.kept) < maxFuels {
		g.kept = append(g.kept, fuel)
	}
}

func (g *fuelGauge) merge(o *fuelGauge) {
	switch {
	case len(o.kept) == 0:
		return
	case len(g.kept) == 0:
		g.min = o.min
	}
	g.min, g.max = min(g.min, o.min), max(g.max, o.max)
	g.kept = append(g.kept, o.kept...)
}

func (g *fuelGauge) read() Fuel {
	if len(g.kept) == 0 {
		return Fuel{}
	}
	slices.Sort(g.kept)
	return Fuel{Min: g.min, Median: g.kept[len(g.kept)/2], Max: g.max}
}
