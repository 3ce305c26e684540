package confine

// Fence is Landlock of the first stage alone: seccomp refuses much of the same before Landlock is asked.
func Fence(read ...string) (Layer, error) { return fence(read, nil) }

// FenceAll is Landlock of the second stage alone.
func FenceAll(entered Layer) (Layer, error) { return fenceAll(entered) }
