package sqlite_test

import (
	"testing"
	"time"
)

func TestASessionReads(t *testing.T) {
	s := connect(t, open(t, makeFile(t)))
	for range 3 {
		rows, err := all(t.Context(), s, time.Minute, "select id, name from users order by id")
		if err != nil || len(rows) != 3 || rows[2][0].Int != 3 || rows[2][1].Text != "Grace" {
			t.Errorf("got %v, %s", rows, cause(err))
		}
	}
}
