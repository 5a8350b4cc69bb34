package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// sums are the analytics of a factory that its content determines.
type sums struct {
	Made, Failed int64
	CostCredits  int64 `json:"cost_credits"`
}

// truth returns the analytics that the work implies.
func (b books) truth() (t sums) {
	for id, e := range b.endings {
		if !strings.HasPrefix(id, "cnt_") {
			continue
		}
		switch e.State {
		case "generated":
			t.Made++
		case "failed":
			t.Failed++
		}
		t.CostCredits += e.CostCredits
	}
	return t
}

// Analytics follow the content within seconds. After a fault, they follow within the time in which the stream
// repeats.
const (
	sumsWithin = 30 * time.Second
	sumsEvery  = time.Second / 2
)

// readSums reads the analytics until they show the truth or the time is over.
func (s *scene) readSums(ctx context.Context, truth sums) (shown sums, err error) {
	for begun := time.Now(); ; {
		var a struct{ Totals sums }
		if err := s.client.call(ctx, http.MethodGet, "/v1/factories/"+s.factory+"/analytics", "", nil, &a); err != nil {
			return shown, err
		}
		if a.Totals == truth || time.Since(begun) > sumsWithin {
			return a.Totals, nil
		}
		if err := pause(ctx, sumsEvery); err != nil {
			return shown, err
		}
	}
}

// miscounted returns the differences between the analytics and the truth.
func miscounted(b books) []string {
	if truth := b.truth(); b.sums != truth {
		return []string{fmt.Sprintf("the analytics show %+v of content that is %+v", b.sums, truth)}
	}
	return nil
}
