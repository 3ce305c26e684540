package main

import (
	"os"
	"path/filepath"
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
