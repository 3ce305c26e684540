package hostile

import (
	"encoding/binary"

	"github.com/wasmres/wasmres/abi"
)

// calling are acts that call host functions which take nothing for the answer.
func calling() []act {
	const large = 3 << 20 // bytes, of the 4 MiB that an actor begins with
	config := (&abi.ConfigRequest{Key: "k"}).Append(nil)
	notice := (&abi.NotifyRequest{URI: "x:o"}).Append(nil)
	service := func(id abi.Service, request []byte) []byte {
		return ignore("call", num(int64(id)), num(actorArea), num(int64(len(request))))
	}
	return []act{
		{name: "logs", why: "lines without end", want: flooded, code: forever(invoke("log", num(abi.LogInfo), num(actorArea), num(40)))},
		{name: "logs-large", why: "lines of megabytes without end", want: flooded, code: forever(invoke("log", num(abi.LogError), num(0), num(large)))},
		{name: "writes", why: "a thousand buffers of 2 MiB in one call, without end", want: flooded,
			code: forever(ignore("fd_write", num(1), num(actorArea), num(1000), num(0))), prepare: withData(vectors(1000, 2<<20))},
		{name: "writes-line", rare: true, why: "a line that never ends", want: flooded,
			code: forever(ignore("fd_write", num(2), num(actorArea), num(1), num(0))), prepare: withData(vectors(1, 64))},
		{name: "services", why: "services that are not granted, without end", want: flooded, code: forever(service(abi.ServiceHTTP, nil))},
		{name: "services-granted", rare: true, why: "a service that is granted, without end", want: flooded,
			code: forever(service(abi.ServiceConfig, config)), prepare: withData(config)},
		{name: "service-large", rare: true, why: "a request of more than a service may have", want: answered,
			code: ignore("call", num(int64(abi.ServiceConfig)), num(0), num(large))},
		{name: "notices", why: "notices without end, each of which may wake all subscribers", want: flooded,
			code: forever(service(abi.ServiceNotifyUpdated, notice), service(abi.ServiceNotifyList, nil)), prepare: withData(notice)},
		{name: "takes", rare: true, why: "the request, over and over", want: flooded,
			code: forever(ignore("take", num(0), num(actorArea), num(0), num(64<<10)))},
		{name: "takes-odd", why: "channels, offsets and lengths there are not", want: answered,
			code: cat(ignore("take", num(9), num(0), num(0), num(64)), ignore("take", num(0), num(0), num(-1), num(-1)), ignore("take", num(1), num(0), num(0), num(-1)), ignore("take", num(2), num(0), num(0), num(-1)))},
		{name: "pointer", rare: true, why: "a text that is not in memory", want: []string{"protocol"}, code: invoke("log", num(abi.LogInfo), num(-1), num(64))},
		{name: "exit", why: "an exit that looks like success", want: exited, code: invoke("proc_exit", num(0))},
		{name: "abort", rare: true, why: "an end with pointers that are none", want: trapped, code: invoke("abort", num(-1), num(-1), num(0), num(0))},
		{name: "randoms", why: "64 KiB of random numbers, over and over", want: flooded, code: forever(ignore("random_get", num(actorArea), num(64<<10)))},
		{name: "random-large", rare: true, why: "2 GiB of random numbers", want: answered, code: ignore("random_get", num(0), num(1<<31-1))},
		{name: "sleep", why: "a sleep of an hour", want: []string{"deadline"},
			code: ignore("poll_oneoff", num(actorArea), num(0), num(1), num(4096)), prepare: withData(hour())},
		{name: "yields", rare: true, why: "a host call that takes no time, without end", want: flooded, code: forever(ignore("sched_yield"))},
	}
}

// withData puts bytes into an actor's own part of memory.
func withData(b []byte) func(*actor) {
	return func(a *actor) { a.data = append(a.data, active(actorArea, b)) }
}

// vectors is an array for fd_write, of n buffers of one size at the beginning of memory.
func vectors(n int, size uint32) []byte {
	one := binary.LittleEndian.AppendUint32(make([]byte, 4), size)
	return times(n, one)
}

// hour is a subscription of poll_oneoff to a clock, an hour from now.
func hour() []byte {
	b := make([]byte, 48)
	binary.LittleEndian.PutUint64(b[24:], 3600e9)
	return b
}
