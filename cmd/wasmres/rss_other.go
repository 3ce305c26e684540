//go:build !unix

package main

// peakRSS is not known on this system.
func peakRSS() uint64 { return 0 }
