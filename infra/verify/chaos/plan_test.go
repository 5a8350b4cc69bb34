package main

import (
	"strings"
	"testing"
	"time"
)

func TestPlansAreJudged(t *testing.T) {
	ended := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	done := []accepted{{"pln_1", ended.Add(-time.Second)}}
	type shown struct {
		plan   shownPlan
		items  []shownItem
		events []told
		spent  int64
	}
	for name, c := range map[string]struct {
		change func(*shown)
		broken string
	}{
		"well":                         {func(*shown) {}, ""},
		"a plan that has not ended":    {func(s *shown) { s.plan.State = "generating" }, "0 of 1 plans are completed"},
		"one without an event":         {func(s *shown) { s.events = nil }, "0 of 1 plans are completed"},
		"one with two events":          {func(s *shown) { s.events = append(s.events, s.events[0]) }, "0 of 1 plans are completed"},
		"an item that is missing":      {func(s *shown) { s.items = s.items[1:] }, "1 plans have 2 items"},
		"an item that was made twice":  {func(s *shown) { s.items = append(s.items, s.items[0]) }, "1 plans have 4 items"},
		"a topic that comes twice":     {func(s *shown) { s.items[1].Prompt = s.items[0].Prompt }, "0 of 1 plans are completed"},
		"a count that is wrong":        {func(s *shown) { s.items[0].State = "failed" }, "0 of 1 plans are completed"},
		"counts that do not add up":    {func(s *shown) { s.plan.Items.Failed = 1 }, "0 of 1 plans are completed"},
		"credits that stay reserved":   {func(s *shown) { s.plan.Reserved = 5 }, "reserves 5"},
		"items that cost more":         {func(s *shown) { s.items[0].Cost++ }, "its items cost 31"},
		"more spent than the cost":     {func(s *shown) { s.spent = 40 }, "the plans cost 30, and 40 was charged"},
		"an item of an unknown origin": {func(s *shown) { s.items = append(s.items, shownItem{Plan: "pln_2"}) }, "1 plans have 4 items"},
	} {
		e := told{CreatedAt: ended.Add(3 * time.Second)}
		e.Data.Object.ID = "pln_1"
		s := shown{plan: shownPlan{ID: "pln_1", State: "completed", Cost: 30}, events: []told{e}, spent: 30}
		s.plan.Items.Total, s.plan.Items.Generated = planItems, planItems
		for _, topic := range []string{"a", "b", "c"} {
			s.items = append(s.items, shownItem{State: "generated", Prompt: topic, Plan: "pln_1", Cost: 10})
		}
		c.change(&s)
		v := judgePlans(done, []shownPlan{s.plan}, s.items, s.events, s.spent, ended)
		v.name = name
		err := v.broken()
		if (err == nil) != (c.broken == "") || err != nil && !strings.Contains(err.Error(), c.broken) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "well" && v.markdown() != "| well | 0 | 1 | 1 | 3 | 30 | yes | 0 | 3.0 | yes |\n" {
			t.Errorf("%+v: %s", v, v.markdown())
		}
	}
	v := judgePlans(done, nil, nil, nil, 0, ended)
	v.bounds, v.bought, v.usual = bounds{once: true}, 5, 4
	if err := v.broken(); err == nil || !strings.Contains(err.Error(), "asked 5 times") {
		t.Errorf("asked too often: %v", err)
	}
}
