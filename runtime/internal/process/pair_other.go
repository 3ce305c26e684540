//go:build !linux

package process

// A Pair does nothing without Linux.
type Pair struct{}

func (*Pair) Join(*Process) {}
func (*Pair) Leave()        {}
func (*Pair) Part(*Process) {}
