//go:build !unix

package bench

// peakRSS is not known on this system.
func peakRSS() uint64 { return 0 }
