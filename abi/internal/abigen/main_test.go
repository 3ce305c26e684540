package main

import (
	"go/constant"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFilesAreCurrent fails when a constant of package abi has changed and go generate ./abi was not run.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is stale: run go generate ./abi", path)
		}
	}
}

func TestConstantsAreRead(t *testing.T) {
	groups, err := constants("../..")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, g := range groups {
		for _, c := range g.constants {
			got[c.name] = c.value.ExactString()
		}
	}
	for name, want := range map[string]string{
		"CodeNotFound": "1", "OpPoll": "7", "ServiceFileList": "14", "SignalBadFrame": "-4", "ChannelBody": "2",
		"InfoServices": "5", "LogError": "3", "MaxFrame": "1048576", "KindBlob": "2", "CachePublic": "1",
		"AudienceAssistant": "2", "ImportModule": `"wasmres_v1"`, "MaxURI": "2048", "I32": "", "Major": "1",
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
}

// TestCompilersAcceptGeneratedFiles asks each compiler that is installed. Go's SDK has tests of its own.
func TestCompilersAcceptGeneratedFiles(t *testing.T) {
	output := filepath.Join(t.TempDir(), "abi.rmeta")
	for _, c := range []struct {
		compiler string
		args     []string
		source   string
	}{
		{"clang", []string{"-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c", "-"}, `
			#include "c/wasmres_abi.h"
			_Static_assert(WR_CODE_OK == 0 && WR_SIGNAL_BAD_FRAME == -4 && WR_MAX_FRAME == 1 << 20, "numbers");
			_Static_assert(sizeof(WR_IMPORT_MODULE ":" WR_IMPORT_TAKE) == sizeof "wasmres_v1:take", "texts");
`},
		{"rustfmt", []string{"--check", "rust/src/abi.rs"}, ""},
		{"rustc", []string{"--crate-type=lib", "--emit=metadata", "--deny=warnings", "-o", output, "-"}, `
			#![no_std]
			#[path = "rust/src/abi.rs"]
			pub mod abi;
			const _: () = assert!(abi::CODE_OK == 0 && abi::SIGNAL_BAD_FRAME == -4 && abi::MAX_FRAME == 1u32 << 20);
			pub const TAKE: (&str, &str) = (abi::IMPORT_MODULE, abi::IMPORT_TAKE);`},
	} {
		t.Run(c.compiler, func(t *testing.T) {
			path, err := exec.LookPath(c.compiler)
			if err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(path, c.args...)
			cmd.Dir = "../../../guest-sdk"
			cmd.Stdin = strings.NewReader(c.source)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestScreamingSnake(t *testing.T) {
	for name, want := range map[string]string{
		"Major": "MAJOR", "CodeOK": "CODE_OK", "ServiceKVGet": "SERVICE_KV_GET", "MaxURI": "MAX_URI", "OpRead": "OP_READ",
	} {
		if got := screamingSnake(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestNumberType(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   string // empty for an error
	}{
		{[]int64{0, 1<<32 - 1}, "u32"},
		{[]int64{0, 1 << 32}, "u64"},
		{[]int64{-1, 1<<31 - 1}, "i32"},
		{[]int64{-1, 1 << 31}, ""},
	} {
		var g group
		for _, v := range c.values {
			g.constants = append(g.constants, constantOf{name: "X", value: constant.MakeInt64(v)})
		}
		if got, err := numberType(g); got != c.want || (err == nil) == (c.want == "") {
			t.Errorf("%v: got %q, %v, want %q", c.values, got, err, c.want)
		}
	}
}
