package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// planPlaces are the steps on the way of a content plan from its acceptance to its end.
// Those of its items are among jobPlaces.
var planPlaces = []place{
	{name: "factory accepts", at: []step{{function: "factory", operation: "TransactWriteItems"}}},
	{name: "generate reads a plan", at: []step{{function: "generate", operation: "BatchGetItem", with: "content_plan_recipe#"}}, held: true},
	{name: "generate asks for topics", at: []step{{function: "generate", operation: "POST bedrock", with: "topics"}}, held: true, leased: true},
	{name: "generate makes the items of a plan", at: []step{{function: "generate", operation: "TransactWriteItems", with: "content_plan_items#"}}, held: true, leased: true},
	{name: "generate counts the end of an item", at: []step{{function: "generate", operation: "TransactWriteItems", with: "content_plan_counts"}}, held: true, leased: true},
	{name: "generate completes a plan", at: []step{{function: "generate", operation: "TransactWriteItems", with: "content_plan.completed"}}, held: true},
}

// planRows are the rows about content plans.
func planRows(sz size) []row {
	once := bounds{once: true}
	return rowsAlong(sz, planPlaces,
		row{name: "The table refuses writes", happen: window(writes, sz.outage, refuse)},
		row{name: "Each message and event comes twice", happen: often(sends, 1, repeat), bounds: once},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer)},
	)
}

const (
	// mostPlans is how many plans a row has at most, and planItems how many items each.
	mostPlans = 20
	planItems = 3
)

// newPlanScene makes a scene for content plans of a live key, each of a factory of its own.
func (w *world) newPlanScene(ctx context.Context, name string, sz size) (*scene, error) {
	return w.newFactoriesScene(ctx, name, sz, min(sz.jobs, mostPlans), "content_plan.completed", func(factory string) (string, map[string]any) {
		return "/v1/factories/" + factory + "/content-plan", map[string]any{"days": 1, "posts_per_day": planItems, "content_types": []string{"post"}}
	})
}

// shownPlan is a plan as the API shows it.
type shownPlan struct {
	ID, State string
	Items     struct{ Total, Generated, Failed, Canceled int }
	Reserved  int64 `json:"reserved_credits"`
	Cost      int64 `json:"cost_credits"`
}

// shownItem is an item of a plan.
type shownItem struct {
	State, Prompt string
	Plan          string `json:"content_plan_id"`
	Cost          int64  `json:"cost_credits"`
}

// planned is what came of a row about content plans.
type planned struct {
	name      string
	bounds    bounds
	trouble   error // why there is no result
	hits      int
	accepted  int
	completed int // with one event, and counts that are those of its items
	items     int
	charged   int64
	money     []string // what does not add up
	bought    int      // generations and topics that the providers accepted
	usual     int      // the same without a fault
	last      time.Duration
}

// planned reads what came of a row.
func (s *scene) planned(ctx context.Context) (planned, error) {
	events, err := list[told](ctx, s.client, "/v1/events", "type", "content_plan.completed")
	if err != nil {
		return planned{}, err
	}
	items, err := list[shownItem](ctx, s.client, "/v1/content-items")
	if err != nil {
		return planned{}, err
	}
	plans := make([]shownPlan, len(s.factories))
	for i, factory := range s.factories {
		if err := s.client.call(ctx, http.MethodGet, "/v1/factories/"+factory+"/content-plan", "", nil, &plans[i]); err != nil {
			return planned{}, err
		}
	}
	var me struct{ Balance struct{ Credits int64 } }
	if err := s.client.call(ctx, http.MethodGet, "/v1/me", "", nil, &me); err != nil {
		return planned{}, err
	}
	done, _ := s.load.accepted()
	s.mu.Lock()
	v := judgePlans(done, plans, items, events, credits-me.Balance.Credits, s.ended)
	v.hits = s.hits
	s.mu.Unlock()
	v.bought, err = s.bought(ctx)
	return v, err
}

// judgePlans compares what was accepted with the plans, their items and events, and with
// what the account has spent.
func judgePlans(done []accepted, plans []shownPlan, items []shownItem, events []told, spent int64, ended time.Time) planned {
	v := planned{accepted: len(done), items: len(items), charged: spent}
	say := func(format string, args ...any) { v.money = append(v.money, fmt.Sprintf(format, args...)) }
	ends := map[string][]told{}
	for _, e := range events {
		ends[e.Data.Object.ID] = append(ends[e.Data.Object.ID], e)
	}
	of := map[string][]shownItem{}
	for _, it := range items {
		of[it.Plan] = append(of[it.Plan], it)
	}
	var cost int64
	for _, d := range done {
		i := slices.IndexFunc(plans, func(p shownPlan) bool { return p.ID == d.id })
		if i < 0 {
			continue
		}
		p := plans[i]
		cost += p.Cost
		own, topics, generated := int64(0), map[string]bool{}, 0
		for _, it := range of[p.ID] {
			own += it.Cost
			topics[it.Prompt] = true
			if it.State == "generated" {
				generated++
			}
		}
		if own != p.Cost || p.Reserved != 0 {
			say("%s costs %d and reserves %d, its items cost %d", p.ID, p.Cost, p.Reserved, own)
		}
		told := ends[p.ID]
		if p.State != "completed" || len(told) != 1 || len(topics) != planItems || len(of[p.ID]) != planItems || p.Items.Total != planItems ||
			p.Items.Generated != generated || p.Items.Generated+p.Items.Failed+p.Items.Canceled != planItems {
			continue
		}
		v.completed++
		if d.at.Before(ended) {
			v.last = max(v.last, told[0].CreatedAt.Sub(ended))
		}
	}
	if cost != spent {
		say("the plans cost %d, and %d was charged", cost, spent)
	}
	return v
}

// broken returns which bounds do not hold; nil where all do.
func (v planned) broken() error {
	return broken(v.name, v.trouble, func(fail failIf) {
		fail(v.accepted == 0, "nothing was accepted")
		fail(v.completed < v.accepted, "%d of %d plans are completed, with one event and their items", v.completed, v.accepted)
		fail(v.items != v.accepted*planItems, "%d plans have %d items", v.accepted, v.items)
		fail(len(v.money) > 0, "%s", strings.Join(v.money, "; "))
		fail(v.bounds.once && v.usual > 0 && v.bought != v.usual, "the providers were asked %d times, without a fault %d times", v.bought, v.usual)
	})
}

// markdown is the line of a row.
func (v planned) markdown() string {
	kept, adds := "yes", "yes"
	if v.broken() != nil {
		kept = "**no**"
	}
	if len(v.money) > 0 {
		adds = "**no**"
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %s | %d | %.1f | %s |\n",
		v.name, v.hits, v.accepted, v.completed, v.items, v.charged, adds, v.bought, v.last.Seconds(), kept)
}

// playPlans runs rows about content plans.
func (w *world) playPlans(ctx context.Context, rows []row, sz size, out io.Writer) []planned {
	return playAll(ctx, rows, sz, out, w.newPlanScene, (*scene).planned, func(v *planned, r row, trouble error, against *planned) {
		v.name, v.bounds, v.trouble = r.name, r.bounds, trouble
		if against != nil {
			v.usual = against.bought
		}
	})
}
