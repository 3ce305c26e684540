package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// A language is one guest SDK's file of constants.
type language struct {
	path   string // from the root of the repository
	render func([]group) ([]byte, error)
}

var languages = []language{
	{path: "guest-sdk/go/abi_gen.go", render: renderGo},
	{path: "guest-sdk/c/wasmres_abi.h", render: renderC},
	{path: "guest-sdk/rust/src/abi.rs", render: renderRust},
	{path: "guest-sdk/assemblyscript/assembly/abi.ts", render: renderAssemblyScript},
	{path: "guest-sdk/javascript/lib/abi.js", render: renderJavaScript},
	{path: "guest-sdk/python/lib/wasmres/abi.py", render: renderPython},
}

// main runs in the folder of package abi, where go generate puts it.
func main() {
	files, err := generate(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "abigen:", err)
		os.Exit(1)
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join("..", filepath.FromSlash(path)), text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "abigen:", err)
			os.Exit(1)
		}
	}
}

// generate renders the constants of package abi in dir, by the path of the file they belong into.
func generate(dir string) (map[string][]byte, error) {
	groups, err := constants(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, l := range languages {
		text, err := l.render(groups)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", l.path, err)
		}
		files[l.path] = text
	}
	return files, nil
}
