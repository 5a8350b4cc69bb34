package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

func slotsOf(t *testing.T, p *Plan) []Slot {
	t.Helper()
	p.Timezone, p.ContentTypes = "Europe/Berlin", []string{"post"}
	slots, err := p.Slots(Recipe{}, Hours{})
	if err != nil {
		t.Fatal(err)
	}
	return slots
}

func TestPillarsHaveTheirSharesAndNoTwoNeighboursAreAlike(t *testing.T) {
	p := &Plan{Days: 20, PostsPerDay: 3, StartsOn: "2026-12-01",
		Pillars: []Pillar{{"Making", 3}, {"People", 2}, {"Questions", 1}}}
	places, err := p.thread(slotsOf(t, p), Recipe{Country: "DE", Trade: "expert"})
	if err != nil {
		t.Fatal(err)
	}
	counts, told := map[string]int{}, map[string]int{}
	for i, at := range places {
		counts[at.Pillar]++
		if i > 0 && at.Pillar == places[i-1].Pillar {
			t.Errorf("slots %d and %d are alike: %+v", i-1, i, at)
		}
		name, _, _ := strings.Cut(at.Occasion, " (")
		if told[name]++; name != "" && told[name] > 2 {
			t.Errorf("slot %d speaks of %s again", i, name)
		}
	}
	if fmt.Sprint(counts) != "map[Making:30 People:20 Questions:10]" {
		t.Errorf("the shares are %v", counts)
	}
	if first := places[0]; first.Day != "Tuesday, 2026-12-01" || first.Season != "winter" || first.Occasion != "" {
		t.Errorf("the first one is %+v", first)
	}
	if at := places[5*3]; at.Occasion != "St. Nicholas Day" {
		t.Errorf("on 6 December it is %q", at.Occasion)
	}
	// One pillar has no neighbour of another.
	p.Pillars = p.Pillars[:1]
	if places, err = p.thread(slotsOf(t, p), Recipe{}); err != nil || places[1].Pillar != "Making" {
		t.Errorf("%+v, %v", places[1], err)
	}
}

func TestCampaignsAreSpreadOverTheirDays(t *testing.T) {
	p := &Plan{Days: 10, PostsPerDay: 1, StartsOn: "2026-12-01", Campaigns: []Campaign{
		{Name: "Launch", About: "NETS10", Items: 3, StartsOn: "2026-12-03", EndsOn: "2026-12-07"}, {Name: "Rest",
			Items: 7}}}
	slots := slotsOf(t, p)
	if err := p.CheckCampaigns(slots); err != nil || p.Campaigns[1].StartsOn != "2026-12-01" {
		t.Fatal(err)
	}
	places, err := p.thread(slots, Recipe{})
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[int]string{2: "1 of 3: Launch", 4: "2 of 3: Launch", 6: "3 of 3: Launch",
		0: "1 of 7: Rest",
		3: "3 of 7: Rest", 9: "7 of 7: Rest"} {
		if got := places[day].Campaign; got != want {
			t.Errorf("day %d is %q, want %q", day, got, want)
		}
	}
	if places[2].about != "NETS10" {
		t.Errorf("the launch is about %q", places[2].about)
	}
	for name, campaign := range map[string]Campaign{
		"/campaigns/0/item_count": {Name: "Too many", Items: 11},
		"/campaigns/0/ends_on":    {Name: "Backwards", Items: 2, StartsOn: "2026-12-05", EndsOn: "2026-12-04"},
	} {
		p.Campaigns = []Campaign{campaign}
		if err := p.CheckCampaigns(slots); paramOf(err) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Neighbours with the same angle are asked for again.
func TestNeighboursWithTheSameAngleAreRefused(t *testing.T) {
	j := &job{slots: []Slot{{At: time.Unix(0, 0)}, {}, {}}}
	j.plan.Items.Total = 3
	err := j.take([]byte(`{"topics":[{"slot":1,"topic":"Nets from the sea","angle":"A mistake that we made"},
		{"slot":2,"topic":"Trail runs at night","angle":"a mistake, that we made!"},
		{"slot":3,"topic":"Lacing shoes for hills","angle":"a mistake that we made"}]}`), nil)
	if err != nil || len(j.Topics) != 2 || j.Topics[2] != "" || j.Views[3].Angle != "a mistake that we made" ||
		len(j.RefusedTopics) != 1 {
		t.Errorf("chosen %v, refused %v, %v", j.Topics, j.RefusedTopics, err)
	}
}

// paramOf returns the member that an error is about.
func paramOf(err error) string { return errs.As(err).Param }
