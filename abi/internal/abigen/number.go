package main

import (
	"fmt"
	"go/constant"
	"math"
)

// numberType returns the type that holds every number of g, as Rust and AssemblyScript both call it.
func numberType(g group) (string, error) {
	switch {
	case numbersWithin(g, 0, math.MaxUint32):
		return "u32", nil
	case numbersWithin(g, math.MinInt32, math.MaxInt32):
		return "i32", nil
	case numbersWithin(g, 0, math.MaxInt64):
		return "u64", nil
	}
	return "", fmt.Errorf("the numbers from %s on fit no type", g.constants[0].name)
}

// numbersWithin is also true of a group without numbers.
func numbersWithin(g group, least, greatest int64) bool {
	for _, c := range g.constants {
		if c.value.Kind() != constant.Int {
			continue
		}
		v, ok := constant.Int64Val(c.value)
		if !ok || v < least || v > greatest {
			return false
		}
	}
	return true
}
