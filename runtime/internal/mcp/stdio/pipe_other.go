//go:build !linux

package stdio

import "io"

// growPipe does nothing on this system.
func growPipe(io.Writer) (maxWrite int) { return 0 }
