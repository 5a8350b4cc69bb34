package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// trainers is the number of callers of which one trains models.
const trainers = 4

// school is the factory with which a caller trains models. Its content exists from the beginning.
type school struct {
	id    string
	open  bool     // it was not deleted
	items []string // paths of its content
}

// factories returns the factories of the caller.
func (c *caller) factories() []string {
	all := []string{c.factory}
	for _, other := range []string{c.school.id, c.shop} {
		if other != "" {
			all = append(all, other)
		}
	}
	return all
}

// found creates the school. It has few items more than a training needs, so that some trainings lack samples once
// items are deleted.
func (c *caller) found() {
	var f struct{ ID string }
	if c.call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "School"}, &f) != http.StatusCreated {
		return
	}
	c.school = school{id: f.ID, open: true}
	tx := &store.Tx{}
	for n := range training.MinSamples + c.random.IntN(4) {
		now := time.Now()
		var r item.Record
		must(json.Unmarshal([]byte(`{"parts":[{"kind":"text","role":"text","model":"nova-micro",
			"provider":"bedrock"}]}`), &r.Attempt))
		r.Item = item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, nil), FactoryID: f.ID,
			Kind: item.Post, State: item.Generated, Attempt: 1, Content: item.Content{Prompt: "A shoe"}, Language: "en",
			Texts: item.Texts{Title: resource.Text(fmt.Sprint("Shoe ", n)), Caption: "A new shoe.",
				Hashtags: []string{}}}
		it, err := r.Entry(c.principal.Owner)
		must(err)
		tx.Create(it, nil)
		c.school.items = append(c.school.items, "/v1/content-items/"+r.Item.ID)
	}
	must(c.world.db().Commit(context.Background(), tx))
}

// train starts a training, or deletes an item that it learns from, or deletes the school.
func (c *caller) train() {
	path := "/v1/factories/" + c.school.id
	switch n := c.random.IntN(20); {
	case n < 2:
		c.school.open = c.call(http.MethodDelete, path, nil, nil) != http.StatusOK
	case n == 2:
		c.call(http.MethodDelete, c.school.items[c.random.IntN(len(c.school.items))], nil, nil)
	default:
		c.call(http.MethodPost, path+"/training", object{}, nil)
	}
}

// trained is the last state of an accepted training.
type trained struct{ training.Training }

// observeTraining counts the trainings that have ended.
func (w *world) observeTraining(c memtable.Change) {
	var t trained
	must(json.Unmarshal([]byte(textOf(c.New, "doc")), &t))
	known := w.trainings[t.ID]
	if w.trainings[t.ID] = &t; known != nil && known.State != t.State &&
		(t.State == training.Completed || t.State == training.Failed) {
		w.ends[string(t.State)+" "+t.ID]++
	}
}

// checkTrainings checks that all trainings have ended, that each was charged its cost, and that the provider has
// only the model of the last completed one.
func (w *world) checkTrainings(fail func(format string, args ...any)) {
	charged, deleted, models := map[string]int64{}, map[string]bool{}, map[string]catalog.TunedModel{}
	for _, it := range w.items() {
		doc := []byte(textOf(it, "doc"))
		switch textOf(it, "kind") {
		case ledger.Kind:
			var e ledger.Entry
			must(json.Unmarshal(doc, &e))
			charged[e.Subject] -= e.Credits
		case "factory":
			deleted[textOf(it, "pk")] = stateOf(it) == "deleted"
		case catalog.TrainedKind:
			var m catalog.TunedModel
			must(json.Unmarshal(doc, &m))
			if other, ok := models[m.FactoryID]; ok {
				fail("%s has the models of %s and %s", m.FactoryID, m.TrainingID, other.TrainingID)
			}
			models[m.FactoryID] = m
		}
	}
	last := map[string]string{}
	for id, t := range w.trainings {
		if t.State == training.Completed && !deleted[t.FactoryID] {
			last[t.FactoryID] = max(last[t.FactoryID], id)
		}
	}
	jobs := map[string]string{}
	for id, t := range w.trainings {
		name := strings.ReplaceAll(id, "_", "-")
		jobs[name] = id
		switch {
		case t.State != training.Completed && t.State != training.Failed && t.State != training.Canceled:
			fail("%s is %s", id, t.State)
		case t.State == training.Completed && (t.CostCredits == 0 || w.jobs[name] == nil || w.jobs[name].fails):
			fail("%s is completed, has cost %d, and its job is %+v", id, t.CostCredits, w.jobs[name])
		case t.State != training.Completed && t.CostCredits != 0:
			fail("%s is %s, and has cost %d", id, t.State, t.CostCredits)
		}
		if charged[id] != t.CostCredits {
			fail("%s has cost %d, and was charged %d", id, t.CostCredits, charged[id])
		}
		if w.files[training.Prefix+name+"/samples.jsonl"] {
			fail("the samples of %s are left", id)
		}
		if last[t.FactoryID] != models[t.FactoryID].TrainingID {
			fail("%s has the model of %q, not of %q", t.FactoryID, models[t.FactoryID].TrainingID, last[t.FactoryID])
		}
	}
	for name, j := range w.jobs {
		id, ok := jobs[name]
		switch {
		case !ok:
			fail("the job %s is of no training", name)
		case j.unread && w.trainings[id].State != training.Canceled:
			fail("the job of %s had no samples", id)
		case last[w.trainings[id].FactoryID] == id &&
			!(j.hasModel() && j.exists() && models[w.trainings[id].FactoryID].Endpoint == name):
			fail("the model of %s is not ready", id)
		case last[w.trainings[id].FactoryID] != id && (j.hasModel() || j.exists() || time.Now().Before(j.over) &&
			j.stopped.IsZero()):
			fail("%s, which is %s, has left something at the provider", id, w.trainings[id].State)
		}
	}
}
