//go:build !deployed

package e2e

import (
	"net/http"
	"strings"
	"testing"

	parts "github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/testdata/providers/bedrock"
)

// Content of live keys combines parts of several providers, and is charged as one.
func TestLiveContent(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 2000
	c.topUp(credits)
	key := c.live.Secret
	factory := c.factory(key)
	spent := int64(0)
	for name, k := range map[string]struct {
		body  object
		files int
	}{
		// The finished media with poster and captions, and then their parts.
		"post":  {object{"kind": "post", "show_headline": true}, 1 + 1},
		"video": {object{"kind": "video", "duration_seconds": 10, "music": "generated"}, 3 + 1 + 1 + 2},
		"video from stills": {object{"kind": "video", "duration_seconds": 10, "model": "kling-2.6-pro",
			"music": bring(t, key, "audio/wav", parts.Tone(10e9, 440))}, 3 + 1 + 2*2},
		"carousel":   {object{"kind": "carousel", "slides": []object{{"text": "One"}, {}}}, 2 + 2},
		"story clip": {object{"kind": "story", "model": "runway-gen-4.5"}, 2 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			k.body["factory_id"], k.body["prompt"] = factory, "A shoe made of recycled nets"
			estimate := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
				object{"operation": "createContentItem", "body": k.body}), http.StatusOK)
			before := c.balance()
			made := into[contentItem](call(t, key, http.MethodPost, contentPath, k.body), http.StatusAccepted)
			reserved := before - c.balance()
			got := ended(t, key, made.ID)
			if got.State != "generated" || len(got.Media) != k.files || got.Cost != reserved ||
				estimate.Credits != reserved || reserved <= 0 || made.Cost != 0 {
				t.Fatalf("reserved %d: %+v %+v", reserved, got, got.Failure)
			}
			for _, f := range got.Media {
				if s := status(t, f.URL); s != http.StatusOK {
					t.Errorf("a file answers %d", s)
				}
			}
			spent += reserved
		})
	}
	t.Run("canceled", func(t *testing.T) {
		made := into[contentItem](call(t, key, http.MethodPost, contentPath,
			object{"factory_id": factory, "kind": "video", "prompt": "A shoe"}), http.StatusAccepted)
		a := call(t, key, http.MethodPost, contentPath+"/"+made.ID+"/cancel", nil)
		got := into[contentItem](a, http.StatusOK)
		if got.State != "canceled" {
			t.Errorf("%s", a.Raw)
		}
		spent += got.Cost // The cost of the existing parts.
	})
	t.Run("flagged once", func(t *testing.T) {
		before := c.balance()
		made := into[contentItem](call(t, key, http.MethodPost, contentPath,
			object{"factory_id": factory, "kind": "post", "prompt": "A shoe for " + bedrock.Flagged}), http.StatusAccepted)
		reserved := before - c.balance()
		got := ended(t, key, made.ID)
		if got.State != "generated" || got.Cost != reserved || strings.Contains(got.Caption, bedrock.Flagged) {
			t.Errorf("%+v %+v", got, got.Failure)
		}
		spent += reserved
	})
	t.Run("flagged", func(t *testing.T) {
		made := into[contentItem](call(t, key, http.MethodPost, contentPath,
			object{"factory_id": factory, "kind": "post", "prompt": "A shoe for " + bedrock.Insisted}), http.StatusAccepted)
		got := ended(t, key, made.ID)
		if got.State != "failed" || got.Failure == nil || got.Failure.Code != "flagged" || got.Cost != 0 {
			t.Errorf("%+v %+v", got, got.Failure)
		}
	})
	sum, states := c.entries()
	if b := c.balance(); b != credits-spent || sum != b || states["held"] != 0 {
		t.Errorf("the balance is %d after spending %d; the entries add up to %d: %v", b, spent, sum, states)
	}
}
