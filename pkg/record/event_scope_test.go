package record_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// An event is read by the scope that reads its object.
func TestAnEventIsReadByTheScopeOfItsObject(t *testing.T) {
	want := map[string]auth.Scope{
		"content.": auth.ContentRead, "publication.": auth.ContentRead, "comment.": auth.ContentRead, "studio.": auth.StudioUse, "content_plan.": auth.FactoriesRead,
		"proposal.": auth.FactoriesRead, "factory.": auth.FactoriesRead,
		"diagnosis.": auth.FactoriesRead, "training.": auth.FactoriesRead, "balance.": auth.AccountRead,
		"social_account.": auth.SocialManage,
		"webhook.":        auth.WebhooksManage, "automation.": auth.ContentRead, "api_key.": auth.AccountManage,
		"integration.": auth.AccountRead, "model.": auth.FactoriesRead,
		"post_import.": auth.SocialManage, "export.": auth.AccountManage, "import.": auth.AccountManage,
		"experiment.": auth.FactoriesRead, "media.": auth.ContentRead, "feed.": auth.ProductsRead,
		"product.": auth.ContentRead,
	}
	for _, known := range event.Types {
		area, _, _ := strings.Cut(string(known.Type), ".")
		if known.Type.Scope() != want[area+"."] || known.Type.Scope() == "" {
			t.Errorf("%s is read by %q", known.Type, known.Type.Scope())
		}
	}
	if event.Type("content.unknown").Readable(auth.AllScopes()) ||
		event.Type("content.unknown").Readable([]auth.Scope{""}) {
		t.Error("an unknown type is readable")
	}
}

func TestACallerReadsTheEventsOfItsScopes(t *testing.T) {
	w := eventNewWorld(t)
	mine := map[string]string{}
	var order []string
	for range 3 {
		for _, known := range event.Types {
			it := w.happen("test", known.Type, eventObject{"id": "x"})
			mine[it.PK] = string(known.Type)
			order = append(order, it.PK)
		}
	}
	slices.Reverse(order)
	for _, scope := range auth.AllScopes() {
		c := w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.AccountRead, scope} })
		readable := func(id string) bool { return event.Type(mine[id]).Readable([]auth.Scope{auth.AccountRead, scope}) }
		for _, query := range []string{"", "type=*", "type=content.*", "type=api_key.*", "type=balance.*",
			"type=content.*,balance.low", "type=api_key.*,studio.*"} {
			patterns := strings.Split(strings.TrimPrefix(query, "type="), ",")
			want := slices.DeleteFunc(slices.Clone(order), func(id string) bool {
				chosen := func(p string) bool { return p == "" || event.Pattern(p).Matches(event.Type(mine[id])) }
				return !readable(id) || !slices.ContainsFunc(patterns, chosen)
			})
			for _, limit := range []int{1, 4, 100} {
				var got []string
				for _, e := range apitest.All[event.Event](c, "/v1/events?"+query, limit) {
					got = append(got, e.ID)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s lists %d events of %q, not %d", scope, len(got), query, len(want))
				}
			}
		}
		for _, id := range order[:len(event.Types)] {
			one := c.Call(http.MethodGet, "/v1/events/"+id, nil)
			list := c.Call(http.MethodGet, "/v1/events?limit=1&type=balance.low,"+mine[id], nil)
			if readable(id) {
				one.Into(t, http.StatusOK, new(event.Event))
				list.Into(t, http.StatusOK, new([]event.Event))
				continue
			}
			one.Refused(t, 404, errs.NotFound, "")
			list.Refused(t, 403, errs.InsufficientScope, "type")
			if lacks := string(event.Type(mine[id]).Scope()); !strings.Contains(list.Error.Message, lacks) {
				t.Errorf("the refusal of %s does not name %s: %s", mine[id], lacks, list.Error.Message)
			}
		}
	}
}

// A list that a key is reading goes on when its scopes change.
func TestACursorOutlivesAChangeOfScopes(t *testing.T) {
	w := eventNewWorld(t)
	balance := w.happen("test", event.BalanceLow, eventObject{"id": "acc_1"})
	w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_1"})
	w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_2"})
	first := w.Call(http.MethodGet, "/v1/events?limit=1", nil)
	narrowed := w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.AccountRead} })
	var rest []event.Event
	narrowed.Call(http.MethodGet, "/v1/events?limit=1&cursor="+*first.NextCursor, nil).Into(t, http.StatusOK, &rest)
	if len(rest) != 1 || rest[0].ID != balance.PK {
		t.Errorf("listed %+v", rest)
	}
}
