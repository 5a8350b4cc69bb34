package main

import (
	"strings"
	"testing"
	"time"
)

func TestDiagnosesAreJudged(t *testing.T) {
	ended := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	event := func(id string, proposals ...string) (e reviewEvent) {
		e.CreatedAt, e.Data.Object.ID, e.Data.Object.ProposalIDs = ended.Add(3*time.Second), id, proposals
		return e
	}
	done := []accepted{{"dgn_1", ended.Add(-time.Second)}, {"dgn_2", ended.Add(time.Second)}}
	well := []reviewEvent{event("dgn_1", "prp_1", "prp_2"), event("prp_1"), event("prp_2"), event("dgn_2")}
	listed := []string{"prp_1", "prp_2"}
	for name, c := range map[string]struct {
		events []reviewEvent
		listed []string
		broken string
	}{
		"well":                            {well, listed, ""},
		"a diagnosis that has not ended":  {well[:3], listed, "1 of 2 diagnoses are completed"},
		"one that has ended twice":        {append(well[:4:4], event("dgn_2")), listed, "1 of 2 diagnoses are completed"},
		"one that was not asked for":      {append(well[:4:4], event("dgn_3")), listed, "1 diagnoses and events"},
		"a proposal without an event":     {append(well[:1:1], well[2:]...), listed, "1 proposals do not belong"},
		"a proposal with two events":      {append(well[:4:4], event("prp_2")), listed, "1 proposals do not belong"},
		"a proposal that is not listed":   {well, listed[:1], "1 diagnoses and events"},
		"a proposal of no diagnosis":      {append(well[:4:4], event("prp_3")), append(listed[:2:2], "prp_3"), "1 proposals do not belong"},
		"a proposal of two diagnoses":     {append(well[:3:3], event("dgn_2", "prp_1")), listed, "1 proposals do not belong"},
		"a diagnosis without a proposal":  {[]reviewEvent{event("dgn_1"), event("dgn_2")}, nil, "nothing was proposed"},
		"nothing of all that is expected": {nil, nil, "0 of 2 diagnoses are completed"},
	} {
		v := judgeReviews(done, c.events, c.listed, ended)
		v.name = name
		err := v.broken()
		if (err == nil) != (c.broken == "") || err != nil && !strings.Contains(err.Error(), c.broken) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "well" && (v.last != 3*time.Second || v.markdown() != "| well | 0 | 2 | 2 | 0 | 2 | 0 | 0 | 3.0 | yes |\n") {
			t.Errorf("%+v: %s", v, v.markdown())
		}
	}
	v := judgeReviews(done, well, listed, ended)
	v.bounds, v.asked, v.usual = bounds{once: true}, 5, 4
	if err := v.broken(); err == nil || !strings.Contains(err.Error(), "asked 5 times") {
		t.Errorf("asked too often: %v", err)
	}
}
