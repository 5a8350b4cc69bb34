package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

type training struct {
	ID, State string
	Samples   int
	BaseModel string  `json:"base_model"`
	ModelID   *string `json:"model_id"`
	Reserved  int64   `json:"reserved_credits"`
	Cost      int64   `json:"cost_credits"`
	Failure   object
}

// trained returns the models that the account's factories have trained.
func trained(t *testing.T, key string) (ids []string) {
	t.Helper()
	for _, m := range into[[]struct {
		ID   string
		From *string `json:"fine_tuned_from"`
	}](call(t, key, http.MethodGet, "/v1/catalog/models?limit=100", nil), http.StatusOK) {
		if m.From != nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// A factory trains a model on the content of its plan, and writes with it: with a test key in
// the sandbox, and with a live key by Bedrock.
func TestTraining(t *testing.T) {
	t.Parallel()
	const samples = 50
	c := newCustomer(t)
	c.topUp(50_000)
	for mode, key := range map[string]string{"test": c.test.Secret, "live": c.live.Secret} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			factory := c.factory(key)
			path := "/v1/factories/" + factory
			plan := call(t, key, http.MethodPost, path+"/content-plan",
				object{"days": samples / 10, "posts_per_day": 10, "content_types": []string{"post"}})
			into[contentPlan](plan, http.StatusAccepted)
			if err := call(t, key, http.MethodPost, path+"/training", object{}).refused(http.StatusUnprocessableEntity,
				"validation_failed"); err != nil {
				t.Error(err)
			}
			for n := int64(10); n <= samples; n += 10 {
				poll.Until(t, fmt.Sprint(n, " items are generated"), func() bool {
					return into[contentPlan](call(t, key, http.MethodGet, path+"/content-plan", nil),
						http.StatusOK).Items.Generated >= n
				})
			}

			a := call(t, key, http.MethodPost, path+"/training", object{})
			started := into[training](a, http.StatusAccepted)
			if started.State != "queued" || started.Samples != samples || (mode == "live") != (started.Reserved > 0) {
				t.Errorf("%+v", started)
			}
			var done training
			poll.Until(t, "the training of "+factory, func() bool {
				done = into[training](call(t, key, http.MethodGet, a.Header.Get("Location"), nil), http.StatusOK)
				return done.State == "completed" || done.State == "failed"
			})
			if done.State != "completed" || done.ModelID == nil || done.Reserved != 0 ||
				(mode == "live") != (done.Cost > 0) {
				t.Fatalf("%+v", done)
			}
			if ids := trained(t, key); len(ids) != 1 || ids[0] != *done.ModelID {
				t.Errorf("trained are %v", ids)
			}
			if events := into[[]object](call(t, key, http.MethodGet, "/v1/events?object_id="+done.ID, nil),
				http.StatusOK); len(events) != 1 || events[0]["type"] != "training.completed" {
				t.Errorf("events %v", events)
			}
			poll.Until(t, "analytics count the training", func() bool {
				sums := into[struct {
					Series []struct {
						Kind  *string
						Spend int64 `json:"cost_credits"`
					}
				}](call(t, key, http.MethodGet, path+"/analytics?group_by=kind", nil), http.StatusOK)
				spent := int64(0)
				for _, row := range sums.Series {
					if row.Kind == nil {
						spent += row.Spend
					}
				}
				return spent == done.Cost
			})

			into[object](call(t, key, http.MethodPatch, path, object{"models": object{"text": *done.ModelID}}),
				http.StatusOK)
			made := into[plannedItem](call(t, key, http.MethodPost, "/v1/content-items",
				object{"factory_id": factory, "kind": "post", "prompt": "A shoe for rain"}), http.StatusAccepted)
			poll.Until(t, "an item is written by the trained model", func() bool {
				return into[plannedItem](call(t, key, http.MethodGet, "/v1/content-items/"+made.ID, nil),
					http.StatusOK).State == "generated"
			})
			into[object](call(t, key, http.MethodDelete, path, nil), http.StatusOK)
			poll.Until(t, "the model is removed with its factory", func() bool { return len(trained(t, key)) == 0 })
		})
	}
}
