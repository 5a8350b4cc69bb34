package area_test

import (
	"fmt"
	"testing"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
)

// Texts that nobody has touched or published only fill up what a training needs at least.
func TestTextsThatAreWorthLearningFromComeFirst(t *testing.T) {
	var all []*item.Record
	for n := range 80 {
		r := &item.Record{Item: item.Item{State: item.Generated, Texts: item.Texts{Caption: "c"}}}
		if r.Item.ID = fmt.Sprint(n); n%8 == 0 {
			r.Draft = "d" // edited
		}
		all = append(all, r)
	}
	got := training.WorthLearning(all)
	if len(got) != training.MinSamples || got[0].Item.ID != "0" || got[9].Item.ID != "72" || got[10].Item.ID != "1" {
		t.Errorf("%d samples, the first ones %s %s %s", len(got), got[0].Item.ID, got[9].Item.ID, got[10].Item.ID)
	}
	for _, r := range all {
		r.Item.State = item.Published
	}
	if got := training.WorthLearning(all); len(got) != 80 || got[1].Item.ID != "1" {
		t.Errorf("of 80 published ones %d are taken", len(got))
	}
	if got := training.WorthLearning(all[:30]); len(got) != 30 {
		t.Errorf("of 30 %d are taken", len(got))
	}
}
