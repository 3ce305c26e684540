package node_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/usage"
)

// What a client makes a provider do is on the bill of its tenant, and of no other.
func TestUsageHasEachProvider(t *testing.T) {
	h := host(t, "a", "b")
	read := request{tenant: "a", key: h.keys["a"], method: "resources/read", uri: "memory://note.txt"}
	status := map[int]uint64{}
	for range 3 {
		status[h.do(read).status]++
	}
	read.key = "wr_aaaaaaaaaaaa_x"
	status[h.do(read).status]++
	if status[http.StatusOK] != 3 || status[http.StatusUnauthorized] != 1 {
		t.Fatalf("got %v", status)
	}
	rows, err := h.Usage(t.Context(), usage.Query{To: time.Now().Add(time.Hour)})
	if err != nil || len(rows) != 2 || rows[0].Key != (usage.Key{Tenant: "a"}) || rows[1].Key != (usage.Key{Tenant: "a", Provider: "memory"}) {
		t.Fatalf("got %+v, %v", rows, err)
	}
	var clients, calls uint64
	for i := range rows[0].Requests {
		clients += rows[0].Requests[i]
		calls += rows[1].Requests[i]
	}
	if clients != 4 || rows[0].Requests[usage.Refused] == 0 || rows[0].Bytes == 0 {
		t.Errorf("clients: %+v", rows[0])
	}
	if p := rows[1]; calls == 0 || p.Fuel == 0 || p.CPU == 0 || p.Starts != 1 || p.Live == 0 || p.Memory == 0 || p.Peak < 1<<20 || p.Peak > 1<<28 {
		t.Errorf("provider: %+v", p)
	}
}
