//go:build !wasip1

package host

const unsupported = 8

// Take copies bytes of a channel from off on into dst and says how many.
func Take(channel uint32, dst []byte, off uint32) uint32 {
	if Current == nil {
		return 0
	}
	return Current.Take(channel, dst, off)
}

// Emit hands a frame over and gives the host's signal.
func Emit(frame []byte) int32 {
	if Current == nil {
		return 0
	}
	return Current.Emit(frame)
}

// Body hands over bytes of the last content and gives the host's signal.
func Body(p []byte) int32 {
	if Current == nil {
		return 0
	}
	return Current.Body(p)
}

// Call asks for a service and gives its code and the size of its response.
func Call(service uint32, request []byte) (code, size uint32) {
	if Current == nil {
		return unsupported, 0
	}
	return Current.Call(service, request)
}

// Log writes a line to the host's log.
func Log(level uint32, message string) {
	if Current != nil {
		Current.Log(level, message)
	}
}

// Info gives one number the host knows.
func Info(id uint32) int64 {
	if Current == nil {
		return 0
	}
	return Current.Info(id)
}
