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
	factoryMembers = []string{"id", "type", "name", "language", "state", "schedule", "auto_publish", "approval", "content_types",
		"social_account_ids"}
	accountMembers = []string{"id", "platform", "handle", "display_name", "state", "factory_ids", "reconnect_before"}
	itemMembers    = []string{"id", "factory_id", "kind", "state", "title", "caption", "prompt", "publish_at", "published_at", "approval",
		"failure", "created_at"}
	productMembers = []string{"id", "factory_id", "sku", "name", "description", "price", "url", "state"}
)

type nothing struct{}

type pageIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"elements of a page, 1 to 50; default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
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
	FactoryID string `json:"factory_id,omitempty" jsonschema:"factory of type seller"`
	SKU       string `json:"sku,omitempty"`
}

type contentsIn struct {
	pageIn
	FactoryID string `json:"factory_id,omitempty"`
	State     string `json:"state,omitempty" jsonschema:"states, separated by commas: queued, generating, generated, scheduled, publishing, published, failed, canceled"`
	Kind      string `json:"kind,omitempty"`
}

type contentIn struct {
	ContentItemID string `json:"content_item_id"`
}

type analyticsIn struct {
	FactoryID string `json:"factory_id"`
	From      string `json:"from,omitempty" jsonschema:"first day, YYYY-MM-DD; default: 28 days before the last day"`
	To        string `json:"to,omitempty" jsonschema:"last day"`
	GroupBy   string `json:"group_by,omitempty" jsonschema:"day, kind or platform, or several, separated by commas"`
}

type failuresIn struct {
	FactoryID string `json:"factory_id,omitempty"`
}

type explainIn struct {
	Code string `json:"code" jsonschema:"code of an error"`
}

func (s *server) addReading() {
	add(s, tool[nothing]{name: "account_overview", title: "Account overview",
		doc: "The time, the mode (live or test), the balance, the scopes, the factories and the social accounts. Call this first.",
		run: overview})
	add(s, tool[factoriesIn]{name: "list_factories", title: "List factories", scope: "factories:read",
		doc:    "List factories. A factory sets the voice, the language, the schedule and the social accounts of its content.",
		values: map[string][]any{"state": {"active", "paused"}},
		run: func(ctx context.Context, c call, in factoriesIn) (said, error) {
			return c.list(ctx, "factories", in.query("state", in.State), factoryMembers)
		}})
	add(s, tool[contentsIn]{name: "list_content", title: "List content", scope: "content:read",
		doc: "List content items, newest first.",
		run: func(ctx context.Context, c call, in contentsIn) (said, error) {
			return c.list(ctx, "content-items", in.query("factory_id", in.FactoryID, "state", in.State, "kind", in.Kind), itemMembers)
		}})
	add(s, tool[contentIn]{name: "get_content", title: "Get a content item", scope: "content:read",
		doc: "Read a content item: its texts, files, state, failure and publications.",
		run: func(ctx context.Context, c call, in contentIn) (said, error) {
			item, err := into[object](c.get(ctx, pathOf("content-items", in.ContentItemID), nil))
			return itemSaid("", item), err
		}})
	add(s, tool[productsIn]{name: "products", title: "List products", scope: "products:read",
		doc: "List the products of seller factories.",
		run: func(ctx context.Context, c call, in productsIn) (said, error) {
			return c.list(ctx, "products", in.query("factory_id", in.FactoryID, "sku", in.SKU), productMembers)
		}})
	add(s, tool[analyticsIn]{name: "analytics", title: "Analytics", scope: "factories:read",
		doc: "Views, likes, comments and other sums of what a factory published.",
		run: func(ctx context.Context, c call, in analyticsIn) (said, error) {
			q := pageIn{}.query("from", in.From, "to", in.To, "group_by", in.GroupBy)
			a, err := c.get(ctx, pathOf("factories", in.FactoryID, "analytics"), q)
			data, err := into[any](a, err)
			return said{"The analytics of the factory.", data}, err
		}})
	add(s, tool[failuresIn]{name: "failures", title: "Failures", scope: "content:read",
		doc: "What failed and needs attention: content items with their failures, and social accounts to connect again.",
		run: failures})
	add(s, tool[explainIn]{name: "explain_error", title: "Explain an error",
		doc: "Explain the code of an error of the API: its causes, what to do, and whether to repeat the call.", run: explain})
}

// list reads a page of a collection.
func (c call) list(ctx context.Context, collection string, query url.Values, members []string) (said, error) {
	a, err := c.get(ctx, "/v1/"+collection, query)
	if err != nil {
		return said{}, err
	}
	found := picks(a.Data, members...)
	return said{strconv.Itoa(len(found)) + " found.", object{"elements": found, "next_cursor": a.NextCursor}}, nil
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
		default:
			out[part.name] = picks(a.Data, part.members...)
		}
	}
	text := "The account."
	if len(left) > 0 {
		text = "The account. The credential lacks the scopes for: " + strings.Join(left, ", ") + "."
	}
	return said{text, out}, nil
}

// failures reads what needs attention.
func failures(ctx context.Context, c call, in failuresIn) (said, error) {
	q := pageIn{}.query("state", "failed", "factory_id", in.FactoryID)
	a, err := c.get(ctx, "/v1/content-items", q)
	if err != nil {
		return said{}, err
	}
	items := picks(a.Data, "id", "factory_id", "kind", "state", "title", "failure", "publications")
	out := object{"content_items": items, "next_cursor": a.NextCursor}
	text := strconv.Itoa(len(items)) + " content items have failed. A retryable failure of the stage generate is repeated with " +
		"revise_content and regenerate: true, one of the stage publish with schedule_or_publish."
	if c.may("social:manage") {
		a, err := c.get(ctx, "/v1/social/accounts", pageIn{}.query("state", "needs_reconnect", "factory_id", in.FactoryID))
		if err == nil {
			out["social_accounts"] = picks(a.Data, accountMembers...)
			text += " Social accounts that need_reconnect are connected again by their owners in a browser: connectSocialAccount."
		}
	}
	return said{text, out}, nil
}

// explain explains a code.
func explain(_ context.Context, _ call, in explainIn) (said, error) {
	at := slices.IndexFunc(errs.Infos, func(i errs.Info) bool { return string(i.Code) == in.Code })
	if at < 0 {
		known := make([]string, len(errs.Codes))
		for i, code := range errs.Codes {
			known[i] = string(code)
		}
		return said{}, invalid("code", "%q is no code of an error of the API%s. The code of a failed item or post is explained "+
			"by its message.", in.Code, nearest.NearestHint(in.Code, known))
	}
	i := errs.Infos[at]
	return said{"The error " + in.Code + ".", object{"code": i.Code, "status": i.Status, "meaning": i.Meaning, "when": i.When,
		"what_to_do": i.Fix, "repeat": i.Retry}}, nil
}
