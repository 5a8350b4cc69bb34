package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// report holds the results of all rows.
type report struct {
	size     size
	webhooks []result
	jobs     []verdict
}

// markdown returns the tables.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Webhooks\n\n%d events a row, one every %v; kills come %d times.\n\n", r.size.events,
		r.size.every, r.size.kills)
	b.WriteString("| Fault | Happened | Accepted | Delivered | Lost | In flight | Repeats | Recovery, s | p50, ms | " +
		"p99, ms | Kept |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.webhooks {
		b.WriteString(row.markdown())
	}
	total := 0
	for _, row := range r.jobs {
		total += row.accepted
	}
	fmt.Fprintf(&b, "\n### Generations\n\n%d pieces of work were accepted, %d a row, one every %v.\n\n", total,
		r.size.jobs, r.size.every)
	b.WriteString("| Fault | Happened | Accepted | Generated | Failed | Not ended | Wrong events | Bad files | " +
		"Charged | Adds up | Bought | Last end, s | Kept |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.jobs {
		b.WriteString(row.markdown())
	}
	return b.String()
}

// markdown returns the line of a row.
func (r result) markdown() string {
	kept := "yes"
	if r.broken() != nil {
		kept = "**no**"
	}
	cells := []string{
		r.name, strconv.Itoa(r.hits), strconv.Itoa(r.accepted), strconv.Itoa(r.delivered), strconv.Itoa(r.lost),
		strconv.Itoa(r.inFlight), strconv.Itoa(r.repeats),
		fmt.Sprintf("%.1f", r.recovery.Seconds()), millis(r.p50), millis(r.p99), kept,
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// broken returns an error that lists the broken bounds, or nil if all hold.
func (r *report) broken() error {
	var all []error
	for _, row := range r.webhooks {
		all = append(all, row.broken())
	}
	for _, row := range r.jobs {
		all = append(all, row.broken())
	}
	return errors.Join(all...)
}
