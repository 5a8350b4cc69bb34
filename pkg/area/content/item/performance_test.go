package item

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/record/resource"
)

// channel returns items whose rate falls with their number.
func channel(n int) (all []*Record) {
	for i := range n {
		views, likes := int64(1000), int64(1000-i)
		r := &Record{Item: Item{Kind: Post, Texts: Texts{Caption: resource.Text(strings.Repeat("c",
			500))}, State: Published,
			Publications: []Publication{{Metrics: &Metrics{Counts: Counts{Views: &views, Likes: &likes}}}}}}
		r.Item.ID = fmt.Sprint(i)
		all = append(all, r)
	}
	return all
}

func ids[T any](all []T, id func(T) string) string {
	var names []string
	for _, one := range all {
		names = append(names, id(one))
	}
	return strings.Join(names, " ")
}

func TestExtremesAreTheBestAndTheWorst(t *testing.T) {
	of := func(p Performance) string { return p.ID }
	for n, want := range map[int][2]string{0: {"", ""}, 1: {"0", ""}, 3: {"0 1", "2"}, 12: {"0 1 2 3 4", "7 8 9 10 11"}} {
		best, worst := Extremes(channel(n), 5)
		if got := [2]string{ids(best, of), ids(worst, of)}; got != want {
			t.Errorf("of %d: %q, want %q", n, got, want)
		}
	}
	best, _ := Extremes(channel(1), 5)
	if p := best[0]; p.Views != 1000 || p.Likes != 1000 || p.Rate != 1000 || len(p.Opening) != maxQuoted {
		t.Errorf("%+v", p)
	}
}

func TestLessonsAreEditedPublishedOrTheBestQuarter(t *testing.T) {
	all := channel(8) // 0 and 1 are the best quarter
	all[7].Draft = "By a model."
	unmeasured, generated := &Record{Item: Item{State: Published}}, &Record{Item: Item{State: Generated}}
	unmeasured.Item.ID, generated.Item.ID = "unmeasured", "generated"
	all = append(all, unmeasured, generated)
	if got := ids(Lessons(all), func(r *Record) string { return r.Item.ID }); got != "0 1 7 unmeasured" {
		t.Errorf("learned from %q", got)
	}
}
