package simulate

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store/memtable"
)

// plan plans content for some days, which may replace planned content, or pauses or resumes the factory.
func (c *caller) plan() {
	path := "/v1/factories/" + c.factory
	switch c.random.IntN(4) {
	case 0:
		c.call(http.MethodPatch, path, object{"state": "paused"}, nil)
	case 1:
		c.call(http.MethodPatch, path, object{"state": "active"}, nil)
	default:
		body := object{"days": 1 + c.random.IntN(4), "posts_per_day": 1 + c.random.IntN(10),
			"content_types": []string{"post", "carousel"}, "replace": c.random.IntN(2) == 0}
		c.call(http.MethodPost, path+"/content-plan", body, nil)
	}
}

// observePlan counts the plans that are completed.
func (w *world) observePlan(c memtable.Change) {
	state := plan.State(planOf(c.New).State)
	if before := planOf(c.Old).State; state != before && (state == plan.Completed || state == plan.Failed) {
		w.ends["planned "+textOf(c.New, "sk")]++
	}
}

func planOf(it attributes) (p plan.Plan) {
	if doc := textOf(it, "doc"); doc != "" {
		must(json.Unmarshal([]byte(doc), &p))
	}
	return p
}

// checkPlans checks that all plans have ended, that each of their items counts once, and that no plan has more
// items than it planned.
func (w *world) checkPlans(fail func(format string, args ...any)) {
	counts, made := map[string]int64{}, map[string]int64{}
	for _, it := range w.items() {
		switch textOf(it, "kind") {
		case factory.CountsKind:
			planID, _, _ := strings.Cut(textOf(it, "sk"), "#")
			counts[planID] = numberOf(it, "n_generated") + numberOf(it, "n_failed") + numberOf(it, "n_canceled")
			if reserved := numberOf(it, "n_reserved"); reserved != 0 {
				fail("%s counts %d reserved credits", planID, reserved)
			}
		case "content_item":
			made[textOf(it, "f_plan")]++
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != plan.ItemKind {
			continue
		}
		p := planOf(it)
		if !p.State.Final() || counts[p.ID] != p.Items.Total || made[p.ID] > p.Items.Total {
			fail("%s is %s; of %d items %d were made and %d count", p.ID, p.State, p.Items.Total, made[p.ID],
				counts[p.ID])
		}
	}
}
