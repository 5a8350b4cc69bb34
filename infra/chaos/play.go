package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// wanted are the rows whose names the expression finds.
func wanted(rows []row, names *regexp.Regexp) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return !names.MatchString(r.name) })
}

// playWebhooks runs rows about deliveries, one after the other. One that comes to
// grief does not keep the others from being run.
func (w *world) playWebhooks(ctx context.Context, rows []row, sz size, out io.Writer) []result {
	var all []result
	for _, r := range rows {
		fmt.Fprintln(out, r.name)
		sz := sz
		sz.events *= max(1, r.more)
		came := result{name: r.name, bounds: r.bounds}
		s, err := w.newScene(ctx, r.name, sz)
		if err == nil {
			err = s.play(ctx, r, sz)
		}
		if err == nil {
			came, err = s.result(ctx, r)
		}
		came.trouble = err
		if i := slices.IndexFunc(all, func(other result) bool { return other.name == r.against }); i >= 0 {
			came.yardstick = all[i].p99
		}
		fmt.Fprint(out, "  ", came.markdown())
		all = append(all, came)
	}
	return all
}

// playJobs runs rows about generations in the same way.
func (w *world) playJobs(ctx context.Context, rows []row, sz size, out io.Writer) []verdict {
	var all []verdict
	for _, r := range rows {
		fmt.Fprintln(out, r.name)
		v := verdict{name: r.name, bounds: r.bounds}
		s, err := w.newJobScene(ctx, r.name, sz)
		if err == nil {
			err = s.play(ctx, r, sz)
		}
		if err == nil {
			v, err = s.verdict(ctx, r)
		}
		v.trouble = err
		if i := slices.IndexFunc(all, func(other verdict) bool { return other.name == r.against }); i >= 0 {
			v.usual = all[i].bought
		}
		fmt.Fprint(out, "  ", v.markdown())
		all = append(all, v)
	}
	return all
}
