package node

import (
	"path/filepath"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/deploy"
	"github.com/wasmres/wasmres/internal/host"
)

// A deployment is what brings versions of modules to where they serve.
type deployment struct {
	blobs    *blobs.Store
	deployer *deploy.Deployer
}

// openBlobs opens the modules of versions.
func (n *Node) openBlobs(data string) (err error) {
	n.blobs, err = blobs.Open(filepath.Join(data, "blobs"), n.cfg.Logger)
	return err
}

// blob is the module of a version, for the host.
func (n *Node) blob(digest string) (host.Module, error) {
	b, err := n.blobs.Open(digest)
	if err != nil {
		return host.Module{}, err
	}
	return host.Module{File: b.File, Release: b.Release}, nil
}

// startDeployer begins the work on versions, and goes on with those of an earlier server.
func (n *Node) startDeployer(data string) (err error) {
	n.deployer, err = deploy.New(deploy.Config{
		Store: n, Blobs: n.blobs, Runtime: n.engine, DataDir: data, Module: n.cfg.Pull, Ahead: n.host.Ahead, Meter: n.meter, Share: n.host.Share, Version: n.cfg.Version, Logger: n.cfg.Logger, Now: n.clock.now,
	})
	return err
}

// Deployer brings versions to where they serve.
func (n *Node) Deployer() *deploy.Deployer { return n.deployer }
