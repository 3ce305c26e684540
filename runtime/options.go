package runtime

import (
	"context"
	"iter"
	"log/slog"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Options say what one provider may do. A zero field grants nothing or takes a safe default; no value means unlimited.
type Options struct {
	// Name is the provider's in logs and as a member of [Combine]. Open takes the file's name without .wasm when it is
	// empty; Load takes the name in the manifest.
	Name string
	// Digest is the digest that the module must have, as in "sha256:9f86…". Empty accepts any module.
	Digest string
	// Version is what traces call this version of the provider; empty for the version in its manifest.
	Version string
	// Capabilities are what the provider may use, such as the files of a folder, which fscap.Open gives. Of two for the
	// same service the later one counts. Open and Load own them: the provider closes them with itself, and so does a
	// failed Open or Load.
	Capabilities []capability.Capability
	// Engine compiles and runs the module: "wazero" or "wasmtime". Empty means that of the Host. See [HostConfig].
	Engine string
	// Values is the configuration that the provider may read, by key.
	Values map[string]string
	// Limits bound each call. Zero fields take the defaults.
	Limits Limits
	// ModuleLimits bound the size and the shape of the module. Zero fields take the defaults.
	ModuleLimits ModuleLimits
	// Lazy has the first call start the worker process, and not Open or Load, if the module contains its manifest, as those of
	// wasmres build do. Open compiles the module all the same, if it is not in the cache. An error of the guest's start is then
	// that of the first calls, and Info has no Reset and no Start before. In process it changes nothing.
	Lazy bool
	// Live bounds the worker processes of this provider and of all others that have the same one, as those of a tenant. A
	// start must be within HostConfig.Live as well. Nil bounds none.
	Live *Live
	// Share has the calls of this provider, and of all others that have the same one, wait for processors: see [Processors]. Nil
	// waits for none.
	Share *Share
	// Lifecycle is the longest life of guest state that is granted. Zero grants none: each call gets a fresh instance.
	Lifecycle abi.Lifecycle
	// Cache answers reads from earlier answers where the provider allows it, by a TTL and the public scope: up to 1 MiB
	// each and 32 MiB in all, for at most an hour.
	Cache bool
	// Prefixes narrow the URIs that the provider may answer as a member of [Combine]: each must begin with one of them, as in
	// "notes://". Empty leaves those of its manifest.
	Prefixes []string
	// HidePrincipal keeps from the provider who the client is: calls have no principal. Then the cache may answer several
	// clients from one call. A server still shows each client only what its identity permits.
	HidePrincipal bool
	// ExposeErrors sends clients the first line of an ordinary error of the provider, such as an exception, up to 200
	// bytes. Otherwise they get "Internal error", and only the log has the text, since it may contain data that clients
	// must not get, such as a password in a URL. Clients always get the message of an error that a provider makes for
	// them.
	ExposeErrors bool
	// Clock is a fixed time and seed, for tests. Nil means the system's time and random numbers.
	Clock *Clock
	// DebugModules are modules that may have the names of the module's functions, for reports of crashes. They are read
	// after a crash. If it is nil, Open uses the files FILE.debug.wasm and FILE.wasm.
	DebugModules iter.Seq[[]byte]
	// Reload returns the bytes of the module again; many goroutines may call it. With it the provider keeps neither code nor
	// data of the module in memory, some megabytes for a module of Go, while its calls run in a worker process: it reads them
	// from HostConfig.CacheDir when a process starts, and from Reload if they are no longer there. If Reload is nil, Open reads
	// the file again, which must not change while the provider is open, and Load keeps the data.
	Reload func() ([]byte, error)
	// Provenance is what clients are told of the code that answers, as the member "dev.wasmres/provider" of the _meta of
	// results. Open and Load set its Digest and Version. Nil tells nothing.
	Provenance *resource.Provenance
	// Admit is asked before each call of the provider for a client; answers from the cache are none. Its error refuses the
	// call. Many goroutines call it at once. It must not block. Nil admits all.
	Admit func(ctx context.Context) error
	// OnCall receives what each call has used when it has ended, with the context of the call. Many goroutines call it
	// at once. It must not block. Nil discards.
	OnCall func(ctx context.Context, used Usage)
	// OnFault receives each call that failed because of the provider: it trapped, or violated the ABI or a limit. It is called
	// after OnCall, under the same rules. Nil discards.
	OnFault func(ctx context.Context, f *Fault)
	// Record has OnFault receive records of the calls, by which [Provider.Replay] brings them to the same end on any machine:
	// exactly, where calls run in a worker process and the lifecycle in force is fresh. In a provider that is recorded, the
	// clock begins each call at the time of the system, and then stands still but for a microsecond at each look and for
	// sleeping; random numbers follow from 64 bits that the Host chooses for each call. Up to 2 MiB of what the capabilities
	// answer are in memory until the call has ended.
	Record bool
	// Compare has calls run again on another engine. Nil compares none.
	Compare *Compare
	// OnUngranted receives the first request to each service that no capability provides, once in each call of the guest.
	// It must not block or keep request. Nil discards.
	OnUngranted func(ctx context.Context, id abi.Service, request []byte)
	Logger      *slog.Logger // nil discards
}

// Limits bound each call of a provider. The fields, in package limits, say what happens when one is exceeded.
type Limits = limits.Limits

// ModuleLimits bound the size and the shape of a module, before it is compiled. The fields are in package limits.
type ModuleLimits = limits.Module

// Usage is what one call has used: fuel, host calls, bytes. The fields are in package limits.
type Usage = limits.Usage

// withDefaults returns a copy of o, which may be nil, in which name and logger are set.
func (o *Options) withDefaults() *Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return &out
}
