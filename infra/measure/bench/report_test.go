package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/document"
	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/httpapi"
)

func sample() report {
	times := func(ms ...float64) (all []time.Duration) {
		for _, n := range ms {
			all = append(all, time.Duration(n*float64(time.Millisecond)))
		}
		return all
	}
	return report{
		machine: document.Machine{OS: "linux", Arch: "amd64", Go: "go1.26", Cores: 4}, calls: 7, rounds: 3,
		starts: []startTimes{
			{program{name: helloBaseline}, 6_250_000, times(2, 2.5, 3)},
			{program{name: sdkBaseline}, 10_000_000, times(4, 4.5, 4)},
			{program{name: "account"}, 9_900_000, times(5, 5, 5)},
		},
		operations: []measured{{
			route: httpapi.Route{OperationID: "createFactory", Method: http.MethodPost, Function: "factory"},
			cost: metered.Cost{
				Authorizer: metered.Reading{Trips: 1, Writes: 1, CPU: 250 * time.Microsecond},
				Function:   metered.Reading{Trips: 2, Reads: 1.5, Writes: 7, CPU: time.Millisecond},
				Audit:      metered.Reading{Trips: 1, Writes: 2},
			},
		}},
		firstOfMinute: metered.Reading{Trips: 2, Writes: 5},
	}
}

func TestMarkdown(t *testing.T) {
	r := sample()
	got := r.markdown()
	for _, want := range []string{
		"on a machine with 4 cores (linux/amd64) with go1.26.",
		"median of 7 calls", "3 starts of each",
		"| createFactory | factory | 1 + 2 + 1 | 0 + 1.5 + 0 | 1 + 7 + 2 | 0.25 + 1.00 + 0.00 |\n",
		"2 round trips and 5 write units",
		"| (hello world) | 6.2 | 2.00 | 2.50 | 3.00 | 0.62 |\n",
		"| (SDK alone) | 10.0 | 4.00 | 4.00 | 4.50 | 1.00 |\n",
		"| account | 9.9 | 5.00 | 5.00 | 5.00 | 1.25 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

func TestAReportWithABrokenBoundFails(t *testing.T) {
	r := sample()
	if err := r.broken(); err != nil {
		t.Errorf("at its bounds: %v", err)
	}
	r.starts[2].times[0] += time.Millisecond
	r.starts[2].times[1] += time.Millisecond
	r.operations[0].cost.Function.Trips = 3
	err := r.broken()
	if err == nil || err.Error() != "createFactory: the function takes 3 round trips, the bound is 2\n"+
		"account: the start takes 1.50 times as long as that of (SDK alone), the bound is 1.25" {
		t.Errorf("got %v", err)
	}
}
