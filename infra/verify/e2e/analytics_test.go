//go:build !deployed

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// amounts are the figures of analytics about the tests' content.
type amounts struct {
	Made, Failed, Published int
	CostCredits             int64 `json:"cost_credits"`
}

type analytics struct {
	Totals amounts
	Series []struct {
		Kind *string
		amounts
	}
}

func TestAnalyticsFollowTheContent(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	key := c.test.Secret
	factory := c.factory(key)
	path := "/v1/factories/" + factory + "/analytics"
	of := func(secret, path string) analytics {
		return into[analytics](call(t, secret, http.MethodGet, path, nil), http.StatusOK)
	}
	for _, outcome := range []string{"generated", "published", "failed"} {
		body := object{"factory_id": factory, "kind": "post", "prompt": "A shoe", "sandbox": object{"outcome": outcome}}
		into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	}
	want := amounts{Made: 2, Failed: 1, Published: 1}
	poll.Until(t, "analytics of the sandbox", func() bool { return of(key, path).Totals == want })
	if got := of(key, path+"?group_by=kind&timezone=Asia/Kathmandu"); got.Totals != want || len(got.Series) != 1 ||
		*got.Series[0].Kind != "post" || got.Series[0].amounts != want {
		t.Errorf("%+v", got)
	}
	if err := call(t, c.live.Secret, http.MethodGet, path, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}

	live := c.live.Secret
	factory = c.factory(live)
	path = "/v1/factories/" + factory + "/analytics"
	made := into[contentItem](call(t, live, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post",
		"prompt": "A shoe"}), http.StatusAccepted)
	ended(t, live, made.ID)
	want = amounts{Made: 1, CostCredits: 1000 - c.balance()}
	poll.Until(t, "analytics", func() bool { return of(live, path).Totals == want })
	into[contentItem](call(t, live, http.MethodDelete, contentPath+"/"+made.ID, nil), http.StatusOK)
	if got := of(live, path); got.Totals != want {
		t.Errorf("after the deletion: %+v", got)
	}
	for _, command := range []string{"verify", "rebuild", "verify"} {
		if out, err := admin(t, "analytics", command, "--factory", factory); err != nil ||
			!strings.Contains(out, `"wrong_total": 0`) || !strings.Contains(out, `"counted": 1`) {
			t.Errorf("%s: %s, %v", command, out, err)
		}
	}
}
