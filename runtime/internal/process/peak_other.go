//go:build !linux

package process

import "os"

// peakOf returns zero: workers run on Linux alone.
func peakOf(*os.ProcessState) int64 { return 0 }
