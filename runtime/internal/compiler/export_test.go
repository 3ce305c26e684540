package compiler

// Killed is what a Compiler remembers of the modules whose children the system has killed. Their digests are numbers here.
type Killed struct{ all killed }

// NewKilled returns one without modules.
func NewKilled() Killed { return Killed{killed{}} }

// Add notes that the children of a module were killed.
func (k Killed) Add(module int) error { return k.all.add(numbered(module)) }

// Err returns the error of a module that is not to be compiled yet.
func (k Killed) Err(module int) error { return k.all.err(numbered(module)) }

// Len returns how many modules are remembered.
func (k Killed) Len() int { return len(k.all) }

func numbered(n int) (d digest) {
	d[0], d[1] = byte(n), byte(n>>8)
	return d
}
