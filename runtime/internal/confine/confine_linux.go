package confine

import "fmt"

// Enter is the first stage, to be called before anything foreign is looked at. From then on the process can use the
// files of the profile, the descriptors that are open, memory, of which it can make code, and threads: it can start
// nothing, open no socket, and signal no process. What a path leads to can still be asked for, though not what is in it.
//
// It gives the layers that are on, and those this machine does not have. When it fails, some may be on: the process
// should end. What needs other files, as the probing of snapshot methods does, must be done before.
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

// Seal is the second stage, to be called before anything foreign is run. What is left is memory that cannot become
// code, threads, clocks, and the descriptors that are open: they can be read, written and mapped, and a socket can
// bring more of them. No path can be named any more.
//
// entered is what Enter gave; Seal gives it as it is now. Where Enter was not called, its limits and Landlock are
// missing and the rest holds. The process can no longer be dumped or traced, not by its own user either, which makes
// its folder in /proc root's. When Seal fails the process should end.
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

// Probe says which layers this machine gives, without taking anything from the calling process.
func Probe() Layers {
	files, calls := probeLandlock(), probeSeccomp()
	return Layers{{Name: Rlimits, On: true}, privileges(files, calls), files, calls}
}

// privileges is the layer that comes with two others, which set it on every thread.
func privileges(files, calls Layer) Layer {
	if files.On || calls.On {
		return Layer{Name: NoNewPrivs, On: true}
	}
	return Layer{Name: NoNewPrivs, Detail: "needs landlock or seccomp to reach every thread"}
}
