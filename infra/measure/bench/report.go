package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/infra/measure/document"
	"github.com/content-automation/api/infra/measure/metered"
)

// report is all that was measured.
type report struct {
	machine       document.Machine
	calls, rounds int
	starts        []startTimes
	operations    []measured
	firstOfMinute metered.Reading
	delivering    delivering
}

// markdown writes the tables.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench` on %v.\n\n", r.machine)
	fmt.Fprintf(&b, "### Operations\n\nEach figure is authorizer + function + audit entry. CPU time is the median of %d calls.\n\n", r.calls)
	b.WriteString("| Operation | Function | Round trips | Read units | Write units | CPU, ms |\n|---|---|---|---|---|---|\n")
	for _, m := range r.operations {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", m.route.OperationID, m.route.Function,
			m.sum(func(p metered.Reading) string { return strconv.Itoa(p.Trips) }),
			m.sum(func(p metered.Reading) string { return units(p.Reads) }),
			m.sum(func(p metered.Reading) string { return units(p.Writes) }),
			m.sum(func(p metered.Reading) string { return millis(p.CPU) }))
	}
	fmt.Fprintf(&b, "\nThe first call of a key in a minute costs the authorizer %d round trips and %s write units: the count of the old window fails, and a new one begins.\n",
		r.firstOfMinute.Trips, units(r.firstOfMinute.Writes))
	fmt.Fprintf(&b, "\n### Start-up\n\nTime from the start of the process to its first request for work. %d starts of each program, in turns.\n\n", r.rounds)
	b.WriteString("| Program | Binary, MB | Least, ms | Median, ms | 90 of 100, ms | Median against " + sdkBaseline + " |\n|---|---|---|---|---|---|\n")
	sdk := r.sdk()
	for _, s := range r.starts {
		fmt.Fprintf(&b, "| %s | %.1f | %s | %s | %s | %.2f |\n", s.name, float64(s.bytes)/1e6,
			millis(percentile(s.times, 0)), millis(median(s.times)), millis(percentile(s.times, 90)), s.against(sdk))
	}
	b.WriteString("\n" + deliveriesTitle + "\n" + r.delivering.markdown())
	return b.String()
}

func (m *measured) sum(part func(metered.Reading) string) string {
	return part(m.cost.Authorizer) + " + " + part(m.cost.Function) + " + " + part(m.cost.Audit)
}

func units(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func millis(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1e3, 'f', 2, 64) }

func (r *report) sdk() startTimes {
	for _, s := range r.starts {
		if s.name == sdkBaseline {
			return s
		}
	}
	return startTimes{}
}

// broken returns which bounds do not hold; nil where all do.
func (r *report) broken() error {
	var all []error
	for _, m := range r.operations {
		for _, fault := range m.broken() {
			all = append(all, errors.New(fault))
		}
	}
	sdk := r.sdk()
	for _, s := range r.starts {
		if s.name == helloBaseline || s.name == sdkBaseline {
			continue
		}
		if ratio := s.against(sdk); ratio > slowest {
			all = append(all, fmt.Errorf("%s: the start takes %.2f times as long as that of %s, the bound is %.2f", s.name, ratio, sdkBaseline, slowest))
		}
	}
	return errors.Join(all...)
}

// deliveriesTitle is the line above the last section of the tables.
const deliveriesTitle = "### Deliveries\n"
