package wasi

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// Module is the import module of preview 1.
const Module = "wasi_snapshot_preview1"

// A Host is what the functions need of the caller they are given. Other callers have no output, and the system is [Real].
type Host interface {
	// Output takes what the guest wrote to standard output (1) or standard error (2). It must copy p.
	Output(fd uint32, p []byte)
	// System is the one that the guest sees.
	System() System
}

func systemOf(host any) System {
	if h, ok := host.(Host); ok {
		return h.System()
	}
	return Real{}
}

// An Exit is the reason of the [engine.Stop] that ends a guest which called proc_exit.
type Exit struct{ Status uint32 }

func (e Exit) Error() string { return fmt.Sprintf("the guest exited with status %d", e.Status) }

// Error numbers of preview 1.
const (
	success = 0
	ebadf   = 8
	efault  = 21
	einval  = 28
)

const (
	maxRandom  = 64 << 10 // bytes a guest may ask for at once
	maxVectors = 1024     // buffers of one fd_write
)

// Functions returns every function of preview 1.
func Functions() []engine.HostFunc {
	fs := []engine.HostFunc{
		define("args_get", "ii", sizeless),
		define("args_sizes_get", "ii", noneSizes),
		define("environ_get", "ii", sizeless),
		define("environ_sizes_get", "ii", noneSizes),
		define("clock_res_get", "ii", clockResolution),
		define("clock_time_get", "iIi", clockTime),
		define("random_get", "ii", random),
		define("sched_yield", "", sizeless),
		define("poll_oneoff", "iiii", pollOneoff),
		define("fd_write", "iiii", fdWrite),
		define("fd_fdstat_get", "ii", fdStat),
		{Module: Module, Name: "proc_exit", Type: abi.Signature{Params: types("i")}, Call: procExit},
	}
	for name, params := range absent {
		fs = append(fs, define(name, params, refuse))
	}
	return fs
}

// absent are the functions that can be linked against but always fail, with their parameters.
var absent = map[string]string{
	"fd_advise": "iIIi", "fd_allocate": "iII", "fd_close": "i", "fd_datasync": "i", "fd_fdstat_set_flags": "ii",
	"fd_fdstat_set_rights": "iII", "fd_filestat_get": "ii", "fd_filestat_set_size": "iI",
	"fd_filestat_set_times": "iIIi", "fd_pread": "iiiIi", "fd_prestat_dir_name": "iii", "fd_prestat_get": "ii",
	"fd_pwrite": "iiiIi", "fd_read": "iiii", "fd_readdir": "iiiIi", "fd_renumber": "ii", "fd_seek": "iIii",
	"fd_sync": "i", "fd_tell": "ii", "path_create_directory": "iii", "path_filestat_get": "iiiii",
	"path_filestat_set_times": "iiiiIIi", "path_link": "iiiiiii", "path_open": "iiiiiIIii", "path_readlink": "iiiiii",
	"path_remove_directory": "iii", "path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii",
	"proc_raise": "i", "sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
}

// An operation answers an error number.
type operation func(ctx context.Context, mem engine.Memory, host any, args []uint64) uint32

// define makes a function whose parameters are written as i for i32 and I for i64, and whose result is an errno.
func define(name, params string, op operation) engine.HostFunc {
	return engine.HostFunc{
		Module: Module, Name: name,
		Type: abi.Signature{Params: types(params), Results: types("i")},
		Call: func(ctx context.Context, mem engine.Memory, host any, stack []uint64) {
			stack[0] = uint64(op(ctx, mem, host, stack))
		},
	}
}

func types(letters string) []abi.ValueType {
	out := make([]abi.ValueType, len(letters))
	for i, c := range letters {
		out[i] = abi.I32
		if c == 'I' {
			out[i] = abi.I64
		}
	}
	return out
}

func sizeless(context.Context, engine.Memory, any, []uint64) uint32 { return success }

// refuse answers as if the descriptor or path did not exist, which guests take for the end of a list of
// preopened folders.
func refuse(context.Context, engine.Memory, any, []uint64) uint32 { return ebadf }

// noneSizes says there are no arguments and no environment.
func noneSizes(_ context.Context, mem engine.Memory, _ any, args []uint64) uint32 {
	if !putUint32(mem, uint32(args[0]), 0) || !putUint32(mem, uint32(args[1]), 0) {
		return efault
	}
	return success
}

func clockResolution(_ context.Context, mem engine.Memory, _ any, args []uint64) uint32 {
	if Clock(args[0]) > Monotonic {
		return einval
	}
	return errnoOf(putUint64(mem, uint32(args[1]), 1))
}

func clockTime(_ context.Context, mem engine.Memory, host any, args []uint64) uint32 {
	clock := Clock(args[0])
	if clock > Monotonic {
		return einval
	}
	return errnoOf(putUint64(mem, uint32(args[2]), systemOf(host).Now(clock)))
}

func random(_ context.Context, mem engine.Memory, host any, args []uint64) uint32 {
	n := uint32(args[1])
	if n > maxRandom {
		return einval
	}
	p, ok := mem.Read(uint32(args[0]), n)
	if !ok {
		return efault
	}
	systemOf(host).Random(p)
	return success
}

// fdStat describes the two descriptors there are as character devices, so that guests write to them unbuffered.
func fdStat(_ context.Context, mem engine.Memory, _ any, args []uint64) uint32 {
	if fd := uint32(args[0]); fd != 1 && fd != 2 {
		return ebadf
	}
	stat := make([]byte, 24)
	stat[0] = 2                                      // character device
	binary.LittleEndian.PutUint64(stat[8:], 1<<6)    // right: fd_write
	return errnoOf(mem.Write(uint32(args[1]), stat)) // inherited rights: none
}

func fdWrite(_ context.Context, mem engine.Memory, host any, args []uint64) uint32 {
	fd, vectors, count := uint32(args[0]), uint32(args[1]), uint32(args[2])
	if fd != 1 && fd != 2 {
		return ebadf
	}
	if count > maxVectors {
		return einval
	}
	table, ok := mem.Read(vectors, 8*count)
	if !ok {
		return efault
	}
	out, _ := host.(Host)
	var written uint64
	for ; len(table) > 0; table = table[8:] {
		p, ok := mem.Read(binary.LittleEndian.Uint32(table), binary.LittleEndian.Uint32(table[4:]))
		if !ok {
			return efault
		}
		if written += uint64(len(p)); written > 1<<31 {
			return einval
		}
		if out != nil {
			out.Output(fd, p)
		}
	}
	return errnoOf(putUint32(mem, uint32(args[3]), uint32(written)))
}

func procExit(_ context.Context, _ engine.Memory, _ any, args []uint64) {
	panic(engine.Stop{Err: Exit{Status: uint32(args[0])}})
}

func errnoOf(ok bool) uint32 {
	if !ok {
		return efault
	}
	return success
}

func putUint32(mem engine.Memory, off, v uint32) bool {
	return mem.Write(off, binary.LittleEndian.AppendUint32(make([]byte, 0, 4), v))
}

func putUint64(mem engine.Memory, off uint32, v uint64) bool {
	return mem.Write(off, binary.LittleEndian.AppendUint64(make([]byte, 0, 8), v))
}
