package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/craft/prompt"
)

// The estimate, the reservation and the charge are the same in each quality. A text that does not pass the second look
// is written again.
func TestQualitiesOfTexts(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	key := c.live.Secret
	factory := c.factory(key)
	var prices []int64
	for _, quality := range []string{"draft", "standard", "best"} {
		body := object{"factory_id": factory, "kind": "post", "quality": quality, "prompt": "Rehearse a weak text about nets"}
		estimate := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
			object{"operation": "createContentItem", "body": body}), http.StatusOK)
		before := c.balance()
		made := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
		reserved := before - c.balance()
		got := ended(t, key, made.ID)
		if got.State != "generated" || got.Cost != reserved || estimate.Credits != reserved || reserved <= 0 ||
			c.balance() != before-reserved {
			t.Errorf("%s: estimated %d, reserved %d, charged %d: %+v", quality, estimate.Credits, reserved, got.Cost,
				got.Failure)
		}
		if again := !strings.Contains(got.Caption, "weak text"); again != (quality != "draft") {
			t.Errorf("%s: the caption is %q", quality, got.Caption)
		}
		if len(got.Hooks) != 3 || got.Hooks[0] == "" || got.PromptVersion != prompt.Version(prompt.Post) ||
			got.Quality != quality {
			t.Errorf("%s: %+v", quality, got)
		}
		for _, f := range got.Media {
			if f.AltText == "" {
				t.Errorf("%s: the %s %s has no alternative text", quality, f.Role, f.ID)
			}
		}
		prices = append(prices, reserved)
	}
	if prices[2] <= prices[1] || prices[1] < prices[0] {
		t.Errorf("the qualities cost %v", prices)
	}
	if err := call(t, key, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post", "prompt": "x",
		"quality": "superb"}).refused(http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
}
