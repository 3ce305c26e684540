//go:build cgo

package confine

import "time"

// SetThreadPatience replaces how long threads may take to restrict themselves.
func SetThreadPatience(d time.Duration) { threadPatience = d }

// CountThreads is what is read of /proc/self/stat.
var CountThreads = countThreads
