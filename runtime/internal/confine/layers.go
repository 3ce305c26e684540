package confine

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the layers.
const (
	Rlimits    = "rlimits"      // memory, processor time, threads, descriptors and the size of files; no core dump
	NoNewPrivs = "no-new-privs" // programs that it runs gain no privileges
	Landlock   = "landlock"     // access to files; no network, signals or abstract sockets
	Seccomp    = "seccomp"      // allowed system calls
)

// A Layer is one of the kernel's means that restrict a process.
type Layer struct {
	Name   string `json:"name"`
	On     bool   `json:"on"`
	Detail string `json:"detail,omitempty"` // how far it restricts, or why it is off
}

// Layers are those of a process or a machine, each name at most once.
type Layers []Layer

// On reports whether a layer is present and on.
func (l Layers) On(name string) bool {
	return slices.ContainsFunc(l, func(layer Layer) bool { return layer.Name == name && layer.On })
}

// String returns one line for a log.
func (l Layers) String() string {
	parts := make([]string, len(l))
	for i, layer := range l {
		parts[i] = layer.String()
	}
	return strings.Join(parts, ", ")
}

func (l Layer) String() string {
	switch {
	case !l.On:
		return fmt.Sprintf("no %s (%s)", l.Name, l.Detail)
	case l.Detail == "":
		return l.Name
	}
	return fmt.Sprintf("%s (%s)", l.Name, l.Detail)
}

// with returns a copy in which a layer is replaced, or appended.
func (l Layers) with(layer Layer) Layers {
	l = slices.Clone(l)
	at := slices.IndexFunc(l, func(old Layer) bool { return old.Name == layer.Name })
	if at < 0 {
		return append(l, layer)
	}
	l[at] = layer
	return l
}

// find returns a layer; if there is none of that name, one that is off.
func (l Layers) find(name string) Layer {
	at := slices.IndexFunc(l, func(layer Layer) bool { return layer.Name == name })
	if at < 0 {
		return Layer{Name: name, Detail: "not asked for"}
	}
	return l[at]
}
