package confine

import "fmt"

// Prepare does what Enter and Seal need and no profile says, so that these take less time. It opens a file of /proc, and the
// programs that the process runs gain no privileges from now on; it restricts nothing else. An error comes again from Enter.
func Prepare() {
	prepareThreads()
	_, _ = landlockABI()
	prepareCalls()
}

// Enter is the first stage; call it before the process reads foreign data. Afterwards the process can use the files of
// the profile, open descriptors, memory, in which it can make code, and threads. It can start no process, open no
// socket, and signal no process. It can still look up the metadata of any path.
//
// Enter returns the state of each layer. After an error some layers may be on, and the process should end. Whatever
// needs other files, as probing the snapshot methods, must run before.
func Enter(p Profile) (Layers, error) {
	if err := p.fill(); err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	limits, err := limit(p)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	files, err := restrictFiles(p.Read, p.Write)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	calls, err := enterCalls(p.Database)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	return Layers{limits, privileges(files, calls), files, calls}, nil
}

// Seal is the second stage; call it before the process runs foreign code. Afterwards the process has memory that cannot
// become code, threads, clocks, and its open descriptors: it can read, write and map them, and receive more through a
// socket. It cannot use any path.
//
// entered is the result of Enter; Seal returns the present state. Without Enter, its limits and Landlock are missing,
// and the rest holds. Other processes can no longer dump or trace this one, not even those of its user; its directory
// in /proc belongs to root. After an error the process should end.
func Seal(entered Layers) (Layers, error) {
	files, err := restrictAllFiles(entered.find(Landlock))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	if err := setUndumpable(); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	calls, err := sealCalls()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return entered.with(privileges(files, calls)).with(files).with(calls), nil
}

// Probe returns the layers that this machine supports. It does not change the calling process.
func Probe() Layers {
	files, calls := probeLandlock(), probeSeccomp()
	return Layers{{Name: Rlimits, On: true}, privileges(files, calls), files, calls}
}

// privileges returns the layer no-new-privs, which two other layers set on every thread.
func privileges(files, calls Layer) Layer {
	if files.On || calls.On {
		return Layer{Name: NoNewPrivs, On: true}
	}
	return Layer{Name: NoNewPrivs, Detail: "needs landlock or seccomp to reach every thread"}
}
