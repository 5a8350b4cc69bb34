package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// reviewPlaces are the steps on the way of a diagnosis from its acceptance to its end.
var reviewPlaces = []place{
	{name: "factory accepts", at: []step{{function: "factory", operation: "TransactWriteItems"}}},
	{name: "diagnose holds its message", at: []step{{function: "diagnose", operation: holding}}, hidden: 90 * time.Second},
	{name: "diagnose reads", at: []step{{function: "diagnose", operation: "BatchGetItem"}}, held: true},
	{name: "diagnose leases a question", at: []step{{function: "diagnose", operation: "PutItem", with: `\"lease\":{`}}, held: true, leased: true},
	{name: "diagnose asks the model", at: []step{{function: "diagnose", operation: "POST bedrock"}}, held: true, leased: true},
	{name: "diagnose writes the end", at: []step{{function: "diagnose", operation: "TransactWriteItems", with: `{"S":"ended"}`}}, held: true, leased: true},
	{name: "diagnose sends the next step", at: []step{{function: "diagnose", operation: "SendMessageBatch"}}, held: true},
}

// reviewRows are the rows about diagnoses.
func reviewRows(sz size) []row {
	once := bounds{once: true}
	return rowsAlong(sz, reviewPlaces,
		row{name: "The table refuses writes", happen: window(writes, sz.outage, refuse)},
		row{name: "Each message and event comes twice", happen: often(sends, 1, repeat), bounds: once},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer)},
	)
}

// mostReviews is how many diagnoses a row has at most: fewer than an account may start in
// a day.
const mostReviews = 40

// newReviewScene makes a scene for diagnoses of a live key, each of a factory of its own,
// as long as there are some.
func (w *world) newReviewScene(ctx context.Context, name string, sz size) (*scene, error) {
	// A factory that is being diagnosed refuses another one until that has ended.
	return w.newFactoriesScene(ctx, name, sz, min(sz.jobs, mostReviews), "diagnosis.completed", func(factory string) (string, map[string]any) {
		return "/v1/factories/" + factory + "/diagnose", map[string]any{}
	})
}

// reviewEvent is an event of a diagnosis or of a proposal.
type reviewEvent struct {
	Type      string
	CreatedAt time.Time `json:"created_at"`
	Data      struct {
		Object struct {
			ID          string
			ProposalIDs []string `json:"proposal_ids"`
		}
	}
}

// reviewed is what came of a row about diagnoses.
type reviewed struct {
	name      string
	bounds    bounds
	trouble   error // why there is no result
	hits      int
	accepted  int
	completed int
	events    int // diagnoses without exactly one event, and events of no diagnosis
	proposals int
	wrong     int // proposals that are not of one diagnosis, with one event
	asked     int // how often the model was asked
	usual     int // the same without a fault
	last      time.Duration
}

// reviewed reads what came of a row.
func (s *scene) reviewed(ctx context.Context) (reviewed, error) {
	events, err := list[reviewEvent](ctx, s.client, "/v1/events", "type", "diagnosis.*,proposal.*")
	if err != nil {
		return reviewed{}, err
	}
	var listed []string
	for _, factory := range s.factories {
		all, err := list[struct{ ID string }](ctx, s.client, "/v1/factories/"+factory+"/proposals")
		if err != nil {
			return reviewed{}, err
		}
		for _, p := range all {
			listed = append(listed, p.ID)
		}
	}
	done, _ := s.load.accepted()
	s.mu.Lock()
	v := judgeReviews(done, events, listed, s.ended)
	v.hits = s.hits
	s.mu.Unlock()
	v.asked, err = s.bought(ctx)
	return v, err
}

// judgeReviews compares what was accepted with the events and the proposals.
func judgeReviews(done []accepted, events []reviewEvent, listed []string, ended time.Time) reviewed {
	v := reviewed{accepted: len(done), proposals: len(listed)}
	told := map[string][]reviewEvent{}
	of := map[string]int{} // how many diagnoses name a proposal
	for _, e := range events {
		told[e.Data.Object.ID] = append(told[e.Data.Object.ID], e)
		for _, id := range e.Data.Object.ProposalIDs {
			of[id]++
		}
	}
	for _, d := range done {
		switch all := told[d.id]; {
		case len(all) != 1:
			v.events++
		case d.at.Before(ended):
			v.last = max(v.last, all[0].CreatedAt.Sub(ended))
			fallthrough
		default:
			v.completed++
		}
		delete(told, d.id)
	}
	for _, id := range listed {
		if len(told[id]) != 1 || of[id] != 1 {
			v.wrong++
		}
		delete(told, id)
		delete(of, id)
	}
	v.wrong += len(of)    // they are not listed
	v.events += len(told) // nothing that was asked for
	return v
}

// broken returns which bounds do not hold; nil where all do.
func (v reviewed) broken() error {
	return broken(v.name, v.trouble, func(fail failIf) {
		fail(v.accepted == 0, "nothing was accepted")
		fail(v.completed < v.accepted, "%d of %d diagnoses are completed", v.completed, v.accepted)
		fail(v.events > 0, "%d diagnoses and events do not belong together", v.events)
		fail(v.proposals == 0, "nothing was proposed")
		fail(v.wrong > 0, "%d proposals do not belong to one diagnosis and one event", v.wrong)
		fail(v.bounds.once && v.usual > 0 && v.asked != v.usual, "the model was asked %d times, without a fault %d times", v.asked, v.usual)
	})
}

// markdown is the line of a row.
func (v reviewed) markdown() string {
	kept := "yes"
	if v.broken() != nil {
		kept = "**no**"
	}
	cells := []string{v.name}
	for _, n := range []int{v.hits, v.accepted, v.completed, v.events, v.proposals, v.wrong, v.asked} {
		cells = append(cells, strconv.Itoa(n))
	}
	return "| " + strings.Join(append(cells, fmt.Sprintf("%.1f", v.last.Seconds()), kept), " | ") + " |\n"
}

// playReviews runs rows about diagnoses.
func (w *world) playReviews(ctx context.Context, rows []row, sz size, out io.Writer) []reviewed {
	return playAll(ctx, rows, sz, out, w.newReviewScene, (*scene).reviewed, func(v *reviewed, r row, trouble error, against *reviewed) {
		v.name, v.bounds, v.trouble = r.name, r.bounds, trouble
		if against != nil {
			v.usual = against.asked
		}
	})
}
