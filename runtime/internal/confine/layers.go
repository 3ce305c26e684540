package confine

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the layers.
const (
	Rlimits    = "rlimits"      // memory, processor time, threads, descriptors and the size of files; no core dump
	NoNewPrivs = "no-new-privs" // no program gives a privilege
	Landlock   = "landlock"     // which files can be reached, and no network, signal or abstract socket
	Seccomp    = "seccomp"      // which system calls can be made
)

// A Layer is one of the ways in which the kernel holds a process.
type Layer struct {
	Name   string `json:"name"`
	On     bool   `json:"on"`
	Detail string `json:"detail,omitempty"` // how far it goes, or why it is not on
}

// Layers are those that a process has or a machine gives, each name at most once.
type Layers []Layer

// On reports whether a layer is there and on.
func (l Layers) On(name string) bool {
	return slices.ContainsFunc(l, func(layer Layer) bool { return layer.Name == name && layer.On })
}

// String is one line for a log.
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

// find returns a layer, or one that is off.
func (l Layers) find(name string) Layer {
	at := slices.IndexFunc(l, func(layer Layer) bool { return layer.Name == name })
	if at < 0 {
		return Layer{Name: name, Detail: "not asked for"}
	}
	return l[at]
}
