package capacity_test

import (
	"fmt"
	"maps"
	"os"
	goruntime "runtime"
	"testing"
	"testing/fstest"

	"github.com/wasmres/wasmres/runtime/internal/capacity"
)

var each = capacity.Each{Descriptors: 10, Threads: 8, Memory: 20 << 20}

// files makes a file system of texts.
func files(texts map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range texts {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// machine has the files of a machine, but for those that a test replaces.
func machine(others map[string]string) fstest.MapFS {
	all := files(map[string]string{
		"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
			"Max processes             1000                 1000                 processes \n" +
			"Max open files            20000                20000                files     \n",
		"proc/self/fd/0": "", "proc/self/fd/1": "", "proc/self/status": "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n",
		"proc/loadavg": "0.00 0.01 0.05 1/200 1234\n", "proc/sys/kernel/pid_max": "32768\n", "proc/sys/kernel/threads-max": "max\n",
		"proc/sys/user/max_net_namespaces": "90\n", "proc/meminfo": "MemTotal: 1 kB\nMemAvailable:    2048000 kB\n",
		"proc/self/cgroup":                 "0::/a/b\n",
		"sys/fs/cgroup/a/b/memory.max":     "max\n",
		"sys/fs/cgroup/a/b/memory.current": "1000\n",
		"sys/fs/cgroup/a/memory.max":       "1073741824\n",
		"sys/fs/cgroup/a/memory.current":   "104857600\n",
		"sys/fs/cgroup/a/memory.stat":      "anon 1\ninactive_file 52428800\n",
		"sys/fs/cgroup/a/b/pids.max":       "500\n",
		"sys/fs/cgroup/a/b/pids.current":   "20\n",
		"sys/fs/cgroup/pids.max":           "100000\n",
	})
	for name, text := range others {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func TestTheTightestBoundIsFirst(t *testing.T) {
	v1 := map[string]string{
		"proc/self/cgroup": "4:memory:/c\n8:cpu,pids:/\n",
		"sys/fs/cgroup/memory/c/memory.limit_in_bytes": "209715200", "sys/fs/cgroup/memory/c/memory.usage_in_bytes": "104857600",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1",
	}
	v2 := map[string]string{ // as a container sees it, whose group is the root of its namespace
		"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "67108864\n", "sys/fs/cgroup/memory.current": "50331648\n",
		"sys/fs/cgroup/memory.stat": "anon 1622016\nfile 6397952\nkernel 5468160\nkernel_stack 163840\npagetables 274432\nsec_pagetables 0\n" +
			"percpu 3600\nsock 0\nvmalloc 24576\nshmem 4096\nzswap 0\nzswapped 0\nfile_mapped 3264512\nfile_dirty 0\nfile_writeback 0\n" +
			"swapcached 0\nanon_thp 0\nfile_thp 0\nshmem_thp 0\ninactive_anon 1507328\nactive_anon 118784\ninactive_file 4599808\n" +
			"active_file 1794048\nunevictable 0\nslab_reclaimable 1234\npgfault 4096\nworkingset_refault_file 3\n",
	}
	hybrid := maps.Clone(v1) // version 2 is there, and has no controller of memory
	hybrid["proc/self/cgroup"] = "9:name=systemd:/\n4:memory:/c\n1:cpu:/\n0::/init.scope\n"
	for name, tt := range map[string]struct {
		others map[string]string
		want   capacity.Bound
	}{
		"the group above": {nil, capacity.Bound{Name: "memory of the control group", Free: 1<<30 - 50<<20, Workers: 48, IsMemory: true}},
		"processes of the group": {
			map[string]string{"sys/fs/cgroup/a/b/pids.max": "180"},
			capacity.Bound{Name: "processes of the control group", Free: 160, Workers: 20},
		},
		"version 2 in a namespace": {v2, capacity.Bound{Name: "memory of the control group", Free: 64<<20 - 48<<20 + 4599808, Workers: 1, IsMemory: true}},
		"both versions":            {hybrid, capacity.Bound{Name: "memory of the control group", Free: 100 << 20, Workers: 5, IsMemory: true}},
		"version 1":                {v1, capacity.Bound{Name: "memory of the control group", Free: 100 << 20, Workers: 5, IsMemory: true}},
		"descriptors": {
			map[string]string{"proc/self/limits": "Max open files            42                20000                files     \n"},
			capacity.Bound{Name: "open files", Free: 40, Workers: 4},
		},
		"namespaces": {
			map[string]string{"proc/sys/user/max_net_namespaces": "7\n"},
			capacity.Bound{Name: "net namespaces (user.max_net_namespaces)", Free: 7, Workers: 7},
		},
		"process numbers": {
			map[string]string{"proc/sys/kernel/pid_max": "300"},
			capacity.Bound{Name: "process numbers (kernel.pid_max)", Free: 100, Workers: 12},
		},
		"more used than allowed": {
			map[string]string{"proc/sys/kernel/pid_max": "100"},
			capacity.Bound{Name: "process numbers (kernel.pid_max)", Free: 0, Workers: 0},
		},
		"memory of the machine": {
			map[string]string{"proc/meminfo": "MemAvailable: 61440 kB\n"},
			capacity.Bound{Name: "memory of the machine", Free: 60 << 20, Workers: 3, IsMemory: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := capacity.Bounds(machine(tt.others), each)
			if len(got) == 0 || got[0] != tt.want {
				t.Errorf("got %+v, want %+v first", got, tt.want)
			}
			names := map[string]bool{}
			for _, b := range got {
				if names[b.Name] {
					t.Errorf("%s is there twice: %+v", b.Name, got)
				}
				names[b.Name] = true
			}
		})
	}
}

// Workers get what is left of the memory and the descriptors that they may not have.
func TestReservedIsForOthers(t *testing.T) {
	reserving := each
	reserving.ReservedMemory, reserving.ReservedDescriptors = 30<<20, 1<<40
	for free, want := range map[int]int{0: 0, 39: 0, 40: 1, 59: 1, 70: 2, 110: 4} {
		available := map[string]string{"proc/meminfo": fmt.Sprintf("MemAvailable: %d kB\n", free<<10)}
		for _, b := range capacity.Bounds(machine(available), reserving) {
			if b.Name == "memory of the machine" && (b.Workers != want || b.Free != uint64(free)<<20) {
				t.Errorf("%d MiB: got %+v, want %d workers", free, b, want)
			}
			if b.Name == capacity.OpenFiles && b.Workers != 0 {
				t.Errorf("got %+v where workers may have no descriptors", b)
			}
		}
	}
}

func TestRootIsNotBoundByProcessesOfAUser(t *testing.T) {
	for uid, want := range map[string]bool{"0": false, "1000": true} {
		found := false
		for _, b := range capacity.Bounds(machine(map[string]string{"proc/self/status": "Uid:\t" + uid + "\t0\n"}), each) {
			found = found || b.Name == "processes of the user" && b.Free == 800
		}
		if found != want {
			t.Errorf("user %s: bound %t, want %t", uid, found, want)
		}
	}
}

func TestWithoutFilesThereAreNoBounds(t *testing.T) {
	if got := capacity.Bounds(fstest.MapFS{}, each); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestThisMachineHasBounds(t *testing.T) {
	got := capacity.Bounds(os.DirFS("/"), each)
	if goruntime.GOOS == "linux" && len(got) < 4 {
		t.Errorf("got %+v, want descriptors, process numbers, namespaces and memory at least", got)
	}
}

func FuzzBounds(f *testing.F) {
	f.Add("proc/self/cgroup", "0::/../..\n1:memory:\n::::", "proc/self/limits", "Max open files")
	f.Add("proc/loadavg", "/", "sys/fs/cgroup/memory.max", "18446744073709551615")
	f.Fuzz(func(t *testing.T, one, text1, two, text2 string) {
		for _, b := range capacity.Bounds(machine(map[string]string{one: text1, two: text2}), each) {
			if b.Workers < 0 {
				t.Errorf("got %+v", b)
			}
		}
	})
}
