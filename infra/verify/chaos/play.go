package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
)

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
