package content_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
)

// out makes an item and has it published as far as it goes by itself. It returns its state.
func (w *world) out(members ...any) item.Item {
	w.T.Helper()
	it := w.generated(members...)
	w.work()
	return w.get(it.ID)
}

// Who may not publish does not steer what a factory publishes by itself: its next items wait for an approval, until
// somebody who may publish changes the factory. What no prompt reads steers nothing.
func TestB12WhoMayNotPublishSteersNothingThatGoesOut(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "auto_publish": true})
	w.attach(w.connect("telegram"))
	at, weak := "/v1/factories/"+w.factory, w.Without(auth.ContentPublish)
	patch := func(body object, by bool) {
		caller := weak
		if by {
			caller = w.Caller
		}
		caller.Call(http.MethodPatch, at, body).Into(t, http.StatusOK, new(object))
	}
	published := func(about string, want bool, members ...any) item.Item {
		t.Helper()
		it := w.out(members...)
		if got := it.State == item.Published; got != want {
			t.Errorf("%s: it is %s, and waits for %s: %v", about, it.State, it.WaitsFor, it.Approval)
		}
		return it
	}
	published("before", true)
	patch(object{"metadata": object{"note": "x"}, "state": "active"}, false)
	published("after a note", true)
	for _, body := range []object{{"description": "Buy at evil.example"}, {"tone": "rude"}, {"topics": []string{"Casinos"}},
		{"audience": "others"}, {"language": "fr"}, {"name": "Other"}, {"settings": object{"style": "travel"}},
		{"ai_caption_line": true}} {
		patch(body, false)
		it := published("after a change", false)
		if !slices.Contains(it.Approval.Reasons, item.SteeredFactory) || it.Approval.State != item.ApprovalPending {
			t.Errorf("after %v its approval is %+v", body, it.Approval)
		}
		weak.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Refused(t, 403, "insufficient_scope", "")
		w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(t, 200, new(object))
		w.work()
		if it = w.get(it.ID); it.State != item.Published {
			t.Errorf("after its approval it is %s", it.State)
		}
		patch(object{"metadata": object{"seen": "yes"}}, true)
		published("after somebody who may publish has changed it", true)
	}
}

// The same of the product that an item is about, and of its promotions.
func TestB12WhoMayNotPublishSteersNoProduct(t *testing.T) {
	for about, change := range map[string]func(*shop, *apitest.Caller, object){
		"a text": func(s *shop, c *apitest.Caller, got object) { s.patched(c, object{"description": "Evil"}, got) },
		"a price": func(s *shop, c *apitest.Caller, got object) {
			s.patched(c, object{"price": object{"amount": 1, "currency": "EUR"}}, got)
		},
		"a link": func(s *shop, c *apitest.Caller, got object) { s.patched(c, object{"url": "https://evil.example"}, got) },
		"its facts": func(s *shop, c *apitest.Caller, got object) {
			s.patched(c, object{"attributes": object{"sole": "evil"}}, got)
		},
		"a promotion": func(s *shop, c *apitest.Caller, got object) {
			c.Call(http.MethodPost, "/v1/promotions", object{"factory_id": s.seller, "name": "Evil", "product_ids": []string{s.shoe},
				"discount": object{"kind": "percent", "value": 10}, "message": "Evil",
				"ends_at": s.w.Now().Add(24 * time.Hour)}).Into(s.w.T, http.StatusCreated, &got)
		},
	} {
		w := newWorld(t)
		s := newShop(w)
		w.factory = s.seller
		w.Call(http.MethodPatch, "/v1/factories/"+s.seller, object{"auto_publish": true}).Into(t, 200, new(object))
		w.attach(w.connect("telegram"))
		if it := w.out("product_id", s.shoe); it.State != item.Published {
			t.Errorf("before %s it is %s: %+v", about, it.State, it.Approval)
		}
		change(s, s.Without(auth.ContentPublish), object{})
		it := w.out("product_id", s.shoe)
		if it.State != item.Generated || !slices.Contains(it.Approval.Reasons, item.SteeredProduct) {
			t.Errorf("after %s it is %s: %+v", about, it.State, it.Approval)
		}
		s.patched(s.Caller, object{"metadata": object{"seen": "yes"}}, object{})
		if it := w.out("product_id", s.shoe); it.State != item.Published {
			t.Errorf("after somebody who may publish has changed it: %s: %+v", it.State, it.Approval)
		}
	}
}

// patched changes the shoe.
func (s *shop) patched(c *apitest.Caller, body, got object) {
	s.w.T.Helper()
	c.Call(http.MethodPatch, "/v1/products/"+s.shoe, body).Into(s.w.T, http.StatusOK, &got)
}
