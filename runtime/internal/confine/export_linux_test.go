package confine

// RestrictFiles is Landlock of the first stage alone: seccomp refuses much of the same before Landlock is asked.
func RestrictFiles(read ...string) (Layer, error) { return restrictFiles(read, nil) }

// RestrictAllFiles is Landlock of the second stage alone.
func RestrictAllFiles(entered Layer) (Layer, error) { return restrictAllFiles(entered) }
