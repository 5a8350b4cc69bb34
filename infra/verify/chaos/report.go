package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
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

// wanted returns the rows whose names match the expression.
func wanted(rows []row, names *regexp.Regexp) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return !names.MatchString(r.name) })
}

// playAll runs rows of one kind, one after the other, each in a scene of its own. judged returns the result of a
// row; finish adds the row, the reason if there is no result, and the result of the row that bounds it, if there is
// one.
func playAll[V interface{ markdown() string }](ctx context.Context, rows []row, sz size, out io.Writer,
	newScene func(context.Context, string, size) (*scene, error), judged func(*scene, context.Context) (V, error),
	finish func(v *V, r row, trouble error, against *V),
) (all []V) {
	for i, r := range rows {
		fmt.Fprintln(out, r.name)
		var v V
		s, err := newScene(ctx, r.name, sz)
		if err == nil {
			err = s.play(ctx, r, sz)
		}
		if err == nil {
			v, err = judged(s, ctx)
		}
		var against *V
		if at := slices.IndexFunc(rows[:i], func(other row) bool { return other.name == r.against }); at >= 0 {
			against = &all[at]
		}
		finish(&v, r, err, against)
		fmt.Fprint(out, "  ", v.markdown())
		all = append(all, v)
	}
	return all
}

// playWebhooks runs rows about deliveries.
func (w *world) playWebhooks(ctx context.Context, rows []row, sz size, out io.Writer) []result {
	return playAll(ctx, rows, sz, out, w.newScene, (*scene).result, func(v *result, r row, trouble error, _ *result) {
		v.name, v.bounds, v.trouble = r.name, r.bounds, trouble
	})
}

// playJobs runs rows about generations.
func (w *world) playJobs(ctx context.Context, rows []row, sz size, out io.Writer) []verdict {
	return playAll(ctx, rows, sz, out, w.newJobScene, (*scene).verdict,
		func(v *verdict, r row, trouble error, against *verdict) {
			v.name, v.bounds, v.trouble = r.name, r.bounds, trouble
			if against != nil {
				v.usual = against.bought
			}
		})
}
