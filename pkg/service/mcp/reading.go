package mcp

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	nearest "github.com/content-automation/api/pkg/base/text"
)

// The members that lists show.
var (
	factoryMembers = []string{"id", "type", "name", "language", "state", "schedule", "auto_publish", "approval",
		"content_types"}
	accountMembers = []string{"id", "platform", "handle", "display_name", "state", "factory_ids", "reconnect_due_at"}
	itemMembers    = []string{"id", "factory_id", "kind", "state", "title", "caption", "prompt", "publish_at",
		"published_at", "approval", "waits_for", "failure", "created_at"}
	productMembers = []string{"id", "factory_id", "sku", "name", "description", "price", "url", "state"}
)

type nothing struct{}

type pageIn struct {
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// query returns the query of a list, with pairs of names and values. Empty values are left out.
func (p pageIn) query(pairs ...string) url.Values {
	q := url.Values{}
	if p.Limit != 0 {
		q.Set("limit", strconv.Itoa(min(p.Limit, 50)))
	}
	for i, value := range append(pairs, "cursor", p.Cursor) {
		if i%2 == 1 && value != "" {
			q.Set(append(pairs, "cursor")[i-1], value)
		}
	}
	return q
}

type factoriesIn struct {
	pageIn
	State string `json:"state,omitempty"`
}

type productsIn struct {
	pageIn
	FactoryID string `json:"factory_id,omitempty"`
	SKU       string `json:"sku,omitempty"`
}

type contentIn struct {
	ContentItemID string `json:"content_item_id"`
	Full          bool   `json:"full,omitempty"`
}

type failuresIn struct {
	FactoryID string `json:"factory_id,omitempty"`
}

type explainIn struct {
	Code string `json:"code"`
}

// The members of the data of several tools.
var (
	listOut = []string{"elements[]", "next_cursor"}
	itemOut = []string{"id", "state", "publish_at", "media[]"}
)

// wholeText describes the argument that asks for all of a result.
const wholeText = "shorten nothing"

func (s *server) addReading() {
	add(s, tool[nothing]{name: "account_overview",
		doc: "Time, mode, balance, scopes, factories and social accounts. Call it first.",
		out: []string{"mode", "account{}", "factories[]", "social_accounts[]"}, run: overview})
	add(s, tool[factoriesIn]{name: "list_factories", scope: "factories:read", out: listOut,
		doc:    "List factories, which set the voice, language, schedule and social accounts of content.",
		values: map[string][]any{"state": {"active", "paused"}},
		run: func(ctx context.Context, c call, in factoriesIn) (said, error) {
			return c.list(ctx, "factories", in.query("state", in.State), append(factoryMembers, "social_account_ids"))
		}})
	add(s, tool[contentsIn]{name: "list_content", scope: "content:read",
		doc: "List content items in short, newest first, or as a calendar, in its zone.",
		out: append(listOut, "days{}"), texts: contentsTexts, run: listContent})
	add(s, tool[contentIn]{name: "get_content", scope: "content:read", out: itemOut,
		doc:   "Read a content item: texts, files, state, approval, failure, publications.",
		texts: map[string]string{"full": wholeText},
		run: func(ctx context.Context, c call, in contentIn) (said, error) {
			item, err := into[object](c.get(ctx, pathOf("content-items", in.ContentItemID), nil))
			out := itemSaid("", item)
			out.all = in.Full
			return out, err
		}})
	add(s, tool[productsIn]{name: "products", scope: "products:read", out: listOut,
		doc: "List the products of seller factories.",
		run: func(ctx context.Context, c call, in productsIn) (said, error) {
			return c.list(ctx, "products", in.query("factory_id", in.FactoryID, "sku", in.SKU), productMembers)
		}})
	add(s, tool[analyticsIn]{name: "analytics", scope: "factories:read",
		doc: "Views, likes, costs and other sums of what a factory made and published.",
		out: []string{"totals{}", "series[]"}, texts: analyticsTexts, run: analyse})
	add(s, tool[failuresIn]{name: "failures", scope: "content:read",
		doc: "Content items that failed, and social accounts to connect again.",
		out: []string{"content_items[]", "social_accounts[]"}, run: failures})
	add(s, tool[explainIn]{name: "explain_error",
		doc: "Explain an error of the API: causes, and what to do.",
		out: []string{"meaning", "what_to_do"},
		run: explain})
}

// list reads a page of a collection.
func (c call) list(ctx context.Context, collection string, query url.Values, members []string) (said, error) {
	a, err := c.get(ctx, "/v1/"+collection, query)
	if err != nil {
		return said{}, err
	}
	found := picks(a.Data, members...)
	return said{text: strconv.Itoa(len(found)) + " found.",
		data: object{"elements": found, "next_cursor": a.NextCursor}}, nil
}

// overview reads what an agent needs to begin. A part that the scopes do not permit is left out.
func overview(ctx context.Context, c call, _ nothing) (said, error) {
	mode := "test: a sandbox, nothing is spent or really published"
	if c.live() {
		mode = "live: work spends credits, and posts are public"
	}
	out := object{"now": c.now().UTC().Format("2006-01-02T15:04:05Z"), "mode": mode, "scopes": c.caller.scopes}
	left := []string{}
	for _, part := range []struct {
		name, path string
		members    []string
	}{{"account", "/v1/me", []string{"name", "plan", "balance", "rate_limit"}}, {"factories", "/v1/factories?limit=50",
		factoryMembers}, {"social_accounts", "/v1/social/accounts?limit=50", accountMembers}} {
		a, err := c.get(ctx, part.path, nil)
		var refused *failure
		switch refused, _ = err.(*failure); {
		case refused != nil && refused.Code == errs.InsufficientScope:
			left = append(left, part.name)
		case err != nil:
			return said{}, err
		case part.name == "account":
			out[part.name] = pick(a.Data, part.members...)
			if key, _ := pick(a.Data, "key")["key"].(object); key["mandate"] != nil {
				out["mandate"], out["remaining_today_credits"] = key["mandate"], key["remaining_today_credits"]
			}
		default:
			out[part.name] = picks(a.Data, part.members...)
		}
	}
	text := "The account."
	if len(left) > 0 {
		text = "The account. The credential lacks the scopes for: " + strings.Join(left, ", ") + "."
	}
	return said{text: text, data: out}, nil
}

// failures reads what needs attention.
func failures(ctx context.Context, c call, in failuresIn) (said, error) {
	q := pageIn{}.query("state", "failed", "factory_id", in.FactoryID)
	a, err := c.get(ctx, "/v1/content-items", q)
	if err != nil {
		return said{}, err
	}
	items := picks(a.Data, "id", "factory_id", "kind", "title", "failure", "publications")
	for _, one := range items {
		item := one.(object)
		failed := []any{}
		for _, p := range listOf(item["publications"]) {
			if p := pick(p, "social_account_id", "platform", "state", "failure"); p["failure"] != nil {
				failed = append(failed, p)
			}
		}
		item["publications"] = failed
	}
	out := object{"content_items": items, "next_cursor": a.NextCursor}
	text := "No content item has failed."
	if len(items) > 0 {
		text = strconv.Itoa(len(items)) + " content items have failed. A retryable failure of the stage generate is " +
			"repeated with revise_content and regenerate: true, one of the stage publish with schedule_or_publish."
	}
	if c.may("social:manage") {
		a, err := c.get(ctx, "/v1/social/accounts",
			pageIn{}.query("state", "needs_reconnect", "factory_id", in.FactoryID))
		if err == nil {
			accounts := picks(a.Data, accountMembers...)
			out["social_accounts"] = accounts
			if len(accounts) == 0 {
				return said{text: text, data: out}, nil
			}
			text += " Social accounts that need_reconnect are connected again by their owners in a browser: " +
				"connectSocialAccount."
		}
	}
	return said{text: text, data: out}, nil
}

func explain(_ context.Context, _ call, in explainIn) (said, error) {
	at := slices.IndexFunc(errs.Infos, func(i errs.Info) bool { return string(i.Code) == in.Code })
	if at < 0 {
		known := make([]string, len(errs.Codes))
		for i, code := range errs.Codes {
			known[i] = string(code)
		}
		return said{}, invalid("code", "%q is no code of an error of the API%s. The code of a failed item or post is "+
			"explained by its message.", in.Code, nearest.NearestHint(in.Code, known))
	}
	i := errs.Infos[at]
	return said{text: "The error " + in.Code + ".",
		data: object{"code": i.Code, "status": i.Status, "meaning": i.Meaning,
			"when": i.When, "what_to_do": i.Fix, "repeat": i.Retry}}, nil
}
