package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// Pillar is a recurring subject of a plan.
type Pillar struct {
	// Subject.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"How it is made"`
	// How many of the items it has, against the weights of the others: 2 has twice as many as 1.
	Share int `json:"weight,omitempty" minimum:"1" maximum:"100" default:"1" example:"2"`
}

// Campaign is a row of items about one matter, which build on each other.
type Campaign struct {
	// Name of the campaign.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"Launch of the trail shoe"`
	// What it is about, and the step that it asks readers for.
	About string `json:"about,omitempty" format:"chapter"`
	// Number of its items.
	Items int `json:"item_count" minimum:"2" maximum:"20" example:"3"`
	// First day. Absent: that of the plan.
	StartsOn string `json:"starts_on,omitempty" format:"date"`
	// Last day. Absent: that of the plan.
	EndsOn string `json:"ends_on,omitempty" format:"date"`
}

// place is the place of a slot in the thread of a plan.
type place struct {
	prompt.Plan
	about string // of its campaign
}

// thread returns the place of each slot: its pillar and goal by the grid, its day, what is celebrated, and its
// campaign.
func (p *Plan) thread(slots []Slot, r Recipe) ([]place, error) {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return nil, err
	}
	all := make([]place, len(slots))
	told, last := map[string]int{}, time.Time{}
	for i, slot := range slots {
		at := slot.At.In(zone)
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		all[i].Plan = prompt.Plan{Day: dayText(day), Season: calendar.Season(day, r.Country),
			Goal: goalsIn(r.Language)[slot.goal]}
		if !day.Equal(last) { // one item of a day is enough for what is celebrated
			all[i].Occasion = occasion(day, r, told)
		}
		if last = day; slot.pillar >= 0 {
			all[i].Pillar = p.Pillars[slot.pillar].Name
		}
	}
	for _, c := range p.Campaigns {
		for n, i := range p.campaigned(c, slots, zone, all) {
			all[i].Campaign, all[i].about = fmt.Sprintf("%d of %d: %s", n+1, c.Items, c.Name), c.About
		}
	}
	return all, nil
}

// dayText is a day as models read it.
func dayText(day time.Time) string {
	return fmt.Sprintf("%s, %s", day.Weekday(), day.Format(time.DateOnly))
}

// occasion returns what the item of a day may speak of: the day that is celebrated then, or one that is soon. A day is
// told at most twice: once ahead, and on the day itself. Those that were told are counted by their names.
func occasion(day time.Time, r Recipe, told map[string]int) string {
	for ahead := range daysAhead + 1 {
		at := day.AddDate(0, 0, ahead)
		for _, name := range calendar.Days(at, r.Country, r.Trade) {
			key := name + at.Format(time.DateOnly)
			if ahead > 0 && told[key] > 0 {
				continue
			}
			told[key]++
			return name + [...]string{"", " (tomorrow)", " (in 2 days)", " (in 3 days)"}[ahead]
		}
	}
	return ""
}

// daysAhead is the number of days before a day on which a channel begins to speak of it.
const daysAhead = 3

// campaigned returns the numbers of the slots of a campaign, spread evenly over its days. Slots of other campaigns are
// left out.
func (p *Plan) campaigned(c Campaign, slots []Slot, zone *time.Location, all []place) []int {
	var free []int
	for i, slot := range slots {
		day := slot.At.In(zone).Format(time.DateOnly)
		if all[i].Campaign == "" && day >= c.StartsOn && (c.EndsOn == "" || day <= c.EndsOn) {
			free = append(free, i)
		}
	}
	if len(free) <= c.Items {
		return free
	}
	chosen := make([]int, c.Items)
	for n := range chosen {
		chosen[n] = free[n*(len(free)-1)/(c.Items-1)]
	}
	return slices.Compact(chosen)
}

// CheckCampaigns refuses campaigns that have no room in the plan, and sets the first day of those that name none.
func (p *Plan) CheckCampaigns(slots []Slot) error {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return err
	}
	all, found := make([]place, len(slots)), []error(nil)
	for n := range p.Campaigns {
		c, at := &p.Campaigns[n], fmt.Sprintf("/campaigns/%d", n)
		if c.StartsOn == "" {
			c.StartsOn = p.StartsOn
		}
		if c.EndsOn != "" && c.EndsOn < c.StartsOn {
			found = append(found, errs.Invalid(at+"/ends_on", "is before the first day of the campaign, %s",
				c.StartsOn))
			continue
		}
		chosen := p.campaigned(*c, slots, zone, all)
		if len(chosen) < c.Items {
			found = append(found, errs.Invalid(at+"/item_count", "are more than the %d items of the plan on these days "+
				"that are in no other campaign", len(chosen)))
		}
		for _, i := range chosen {
			all[i].Campaign = c.Name
		}
	}
	return errs.All(found...)
}
