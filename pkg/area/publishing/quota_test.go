package publishing_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/record/quota"
)

// An account makes so many review links in a day, in each mode. Those of an earlier day do not count.
func TestAnAccountMakesSoManyReviewLinksInADay(t *testing.T) {
	w := newWorld(t)
	body := object{"content_item_ids": []string{w.provide().ID}}
	remove := func(c *apitest.Caller, id string) {
		c.Call(http.MethodDelete, "/v1/review-links/"+id, nil).Into(t, http.StatusOK, new(publishing.ReviewLink))
	}
	of := apitest.QuotaCase{DB: w.DB, Bound: quota.ReviewLinks, Kind: item.ReviewLinkKind, Now: w.Now,
		Create: func(c *apitest.Caller, headers ...string) apitest.Answer {
			return c.Call(http.MethodPost, "/v1/review-links", body, headers...)
		},
		Remove: remove,
	}
	early, _ := w.link(body)
	of.Check(t, w.Caller)
	w.Clock.Add(72 * time.Hour)
	storetest.Expire(t, w.DB, w.Now())
	remove(w.Caller, early.ID)
	of.Check(t, w.Caller)

	live := w.Live()
	live.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog", "language": "en"}).
		Into(t, http.StatusCreated, new(object))
	factories := apitest.All[struct{ ID string }](live, "/v1/factories", 10)
	body = object{"factory_id": factories[0].ID}
	of.Check(t, live)
}
