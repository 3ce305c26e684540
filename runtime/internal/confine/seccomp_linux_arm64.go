package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// olderPathCalls do not exist on this architecture.
var olderPathCalls []uint32
