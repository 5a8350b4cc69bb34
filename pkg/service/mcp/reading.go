package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/clock"
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
		doc:    "List factories, which set voice, schedule and social accounts.",
		values: map[string][]any{"state": {"active", "paused"}},
		run: func(ctx context.Context, c call, in factoriesIn) (toolResult, error) {
			return c.list(ctx, "factories", in.query("state", in.State), append(factoryMembers, "social_account_ids"))
		}})
	add(s, tool[contentsIn]{name: "list_content", scope: "content:read",
		doc: "List content items in short, newest first, or as a calendar, in its zone.",
		out: append(listOut, "days{}"), texts: contentsTexts, run: listContent})
	add(s, tool[contentIn]{name: "get_content", scope: "content:read", out: itemOut,
		doc:   "Read a content item with its files and publications.",
		texts: map[string]string{"full": wholeText},
		run: func(ctx context.Context, c call, in contentIn) (toolResult, error) {
			item, err := into[object](c.get(ctx, pathOf("content-items", in.ContentItemID), nil))
			out := itemSaid("", item)
			out.all = in.Full
			return out, err
		}})
	add(s, tool[productsIn]{name: "products", scope: "products:read", out: listOut,
		doc: "List the products of seller factories.",
		run: func(ctx context.Context, c call, in productsIn) (toolResult, error) {
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
func (c call) list(ctx context.Context, collection string, query url.Values, members []string) (toolResult, error) {
	a, err := c.get(ctx, "/v1/"+collection, query)
	if err != nil {
		return toolResult{}, err
	}
	found := picks(a.Data, members...)
	return toolResult{text: strconv.Itoa(len(found)) + " found.",
		data: object{"elements": found, "next_cursor": a.NextCursor}}, nil
}

// overview reads what an agent needs to begin. A part that the scopes do not permit is left out.
func overview(ctx context.Context, c call, _ nothing) (toolResult, error) {
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
			return toolResult{}, err
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
	return toolResult{text: text, data: out}, nil
}

// failures reads what needs attention.
func failures(ctx context.Context, c call, in failuresIn) (toolResult, error) {
	q := pageIn{}.query("state", "failed", "factory_id", in.FactoryID)
	a, err := c.get(ctx, "/v1/content-items", q)
	if err != nil {
		return toolResult{}, err
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
				return toolResult{text: text, data: out}, nil
			}
			text += " Social accounts that need_reconnect are connected again by their owners in a browser: " +
				"connectSocialAccount."
		}
	}
	return toolResult{text: text, data: out}, nil
}

func explain(_ context.Context, _ call, in explainIn) (toolResult, error) {
	at := slices.IndexFunc(errs.Infos, func(i errs.Info) bool { return string(i.Code) == in.Code })
	if at < 0 {
		known := make([]string, len(errs.Codes))
		for i, code := range errs.Codes {
			known[i] = string(code)
		}
		return toolResult{}, invalid("code", "%q is no code of an error of the API%s. The code of a failed item or "+
			"post is explained by its message.", in.Code, nearest.NearestHint(in.Code, known))
	}
	i := errs.Infos[at]
	return toolResult{text: "The error " + in.Code + ".",
		data: object{"code": i.Code, "status": i.Status, "meaning": i.Meaning,
			"when": i.When, "what_to_do": i.Fix, "repeat": i.Retry}}, nil
}

type contentsIn struct {
	pageIn
	FactoryID     string `json:"factory_id,omitempty"`
	State         string `json:"state,omitempty"`
	Kind          string `json:"kind,omitempty"`
	Approval      string `json:"approval,omitempty"`
	ContentPlanID string `json:"content_plan_id,omitempty"`
	From          string `json:"from,omitempty"`
	To            string `json:"to,omitempty"`
	Calendar      bool   `json:"calendar,omitempty"`
}

var contentsTexts = map[string]string{
	"state": "queued, generating, generated, scheduled, publishing, published, failed, canceled",
	"kind":  "post, video, carousel, story, music_clip",
	"from":  "publish_at from then on: 2027-01-15, or 2027-01-15T09:00:00Z",
	"to":    "publish_at before then", "calendar": "by day and time; from: now",
}

const (
	// mostListed is the number of items of a page of a calendar, and mostPages the number of its pages.
	mostListed = 100
	mostPages  = 3
	// mostTitle is the length of a title in lists.
	mostTitle = 60
)

// itemRow is an item as lists show it.
type itemRow struct {
	ID            string     `json:"id"`
	FactoryID     string     `json:"factory_id"`
	Kind          string     `json:"kind"`
	State         string     `json:"state"`
	Title         string     `json:"title"`
	Caption       string     `json:"caption"`
	Prompt        string     `json:"prompt"`
	PublishAt     *time.Time `json:"publish_at"`
	PublishedAt   *time.Time `json:"published_at"`
	WaitsFor      string     `json:"waits_for"`
	ContentPlanID string     `json:"content_plan_id"`
	Approval      struct {
		State string `json:"state"`
		Note  string `json:"note"`
	} `json:"approval"`
	Failure *struct {
		Code string `json:"code"`
	} `json:"failure"`
}

// listContent lists items in short, or as a calendar.
func listContent(ctx context.Context, c call, in contentsIn) (toolResult, error) {
	zone := c.zoneOf(ctx, in)
	from, err := bound("from", in.From, zone)
	if err != nil {
		return toolResult{}, err
	}
	to, err := bound("to", in.To, zone)
	if err != nil {
		return toolResult{}, err
	}
	if in.Calendar && from == "" {
		from = c.now().UTC().Format(time.RFC3339)
	}
	query := in.query("factory_id", in.FactoryID, "state", in.State, "kind", in.Kind, "approval", in.Approval,
		"content_plan_id", in.ContentPlanID, "publish_from", from, "publish_to", to)
	if in.Calendar {
		items, more, err := c.listPlanned(ctx, query)
		return calendar(items, more, zone), err
	}
	a, err := c.get(ctx, "/v1/content-items", query)
	items, err := into[[]itemRow](a, err)
	if err != nil {
		return toolResult{}, err
	}
	elements := []any{}
	for _, i := range items {
		elements = append(elements, i.brief(in, zone))
	}
	return toolResult{text: strconv.Itoa(len(items)) + " found. Times are in the time zone " + zone.String() +
		". get_content has all texts and files.",
		data: object{"elements": elements, "next_cursor": a.NextCursor, "timezone": zone.String()}}, nil
}

// zoneOf returns the time zone of the times of a list: that of the schedule of the factory that the call or its content
// plan is of, or of the only factory of the caller, or else UTC.
func (c call) zoneOf(ctx context.Context, in contentsIn) *time.Location {
	type factory struct{ Schedule *struct{ Timezone string } }
	var f factory
	factoryID, err := in.FactoryID, error(nil)
	if in.ContentPlanID != "" && factoryID == "" {
		query := url.Values{"content_plan_id": {in.ContentPlanID}, "limit": {"1"}}
		if of, err := into[[]itemRow](c.get(ctx, "/v1/content-items", query)); err == nil && len(of) > 0 {
			factoryID = of[0].FactoryID
		}
	}
	if factoryID != "" {
		f, err = into[factory](c.get(ctx, pathOf("factories", factoryID), nil))
	} else {
		var all []factory
		all, err = into[[]factory](c.get(ctx, "/v1/factories", url.Values{"limit": {"2"}}))
		if len(all) == 1 {
			f = all[0]
		}
	}
	if err == nil && f.Schedule != nil {
		if known, err := time.LoadLocation(f.Schedule.Timezone); err == nil {
			return known
		}
	}
	return time.UTC
}

// bound reads the begin or the end of a period. A day begins at midnight of the time zone.
func bound(name, text string, zone *time.Location) (string, error) {
	if text == "" {
		return "", nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
		at = clock.Instant(at, zone)
	}
	if err != nil {
		return "", invalid(name, "%s must be a day such as 2027-01-15, or a time such as 2027-01-15T09:00:00Z.", name)
	}
	return at.UTC().Format(time.RFC3339), nil
}

// brief returns the members of an item that say what it is and how it stands. What the call asks for is left out.
func (i *itemRow) brief(in contentsIn, zone *time.Location) object {
	out := object{"id": i.ID, "kind": i.Kind, "state": i.State, "title": i.name(), "waits_for": i.wait()}
	if in.FactoryID == "" {
		out["factory_id"] = i.FactoryID
	}
	for name, at := range map[string]*time.Time{"publish_at": i.PublishAt, "published_at": i.PublishedAt} {
		if at != nil {
			out[name] = at.In(zone).Format(time.RFC3339)
		}
	}
	if i.Approval.State != "none" {
		out["approval"] = i.Approval.State
	}
	if note, _ := shorten(i.Approval.Note, 200).(string); i.Approval.State == "changes_requested" {
		out["note"] = note
	}
	if i.Failure != nil {
		out["failure"] = i.Failure.Code
	}
	return out
}

// wait returns what an item waits for, if the API says so.
func (i *itemRow) wait() string {
	if i.WaitsFor == "none" {
		return ""
	}
	return i.WaitsFor
}

// name returns what tells an item from others: its title, or else the start of another text of it.
func (i *itemRow) name() string {
	name := strings.Join(strings.Fields(cmp.Or(i.Title, i.Caption, i.Prompt)), " ")
	if utf8.RuneCountInString(name) > mostTitle {
		name = strings.TrimRight(string([]rune(name)[:mostTitle]), " ") + "…"
	}
	return name
}

// listPlanned reads the pages of a calendar. It reports whether there are more than it reads.
func (c call) listPlanned(ctx context.Context, query url.Values) (all []itemRow, more bool, _ error) {
	query.Set("limit", strconv.Itoa(mostListed))
	for range mostPages {
		a, err := c.get(ctx, "/v1/content-items", query)
		items, err := into[[]itemRow](a, err)
		if err != nil {
			return nil, false, err
		}
		if all = append(all, items...); a.NextCursor == nil {
			return all, false, nil
		}
		query.Set("cursor", *a.NextCursor)
	}
	return all, true, nil
}

// calendar returns items by day and time. Each is one line: time, kind, state, id and title.
func calendar(items []itemRow, more bool, zone *time.Location) toolResult {
	slices.SortStableFunc(items, func(a, b itemRow) int { return a.PublishAt.Compare(*b.PublishAt) })
	days, shown, size := object{}, 0, 0
	for _, i := range items {
		at, state := i.PublishAt.In(zone), i.State
		if i.Approval.State == "pending" || i.Approval.State == "changes_requested" {
			state += ", approval " + i.Approval.State
		}
		day := at.Format(time.DateOnly)
		line := strings.Join([]string{at.Format("15:04"), i.Kind, "(" + state + ")", i.ID, i.name()}, " ")
		if size += utf8.RuneCountInString(encode(line)) + len(`,"2027-01-15":[]`); size > mostCharacters-800 {
			break
		}
		lines, _ := days[day].([]any)
		days[day] = append(lines, line)
		shown++
	}
	text := fmt.Sprintf("%d items, by day in the time zone %s: time, kind, state, id, title.", shown, zone)
	switch {
	case more:
		text += " There are more than a calendar has: ask for a shorter period."
	case shown < len(items):
		text += " For those after them, repeat the call with from: " +
			items[shown].PublishAt.In(zone).Format(time.RFC3339) + "."
	}
	return toolResult{text: text, data: object{"days": days, "timezone": zone.String()}}
}

type analyticsIn struct {
	FactoryID string `json:"factory_id"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	GroupBy   string `json:"group_by,omitempty"`
}

var analyticsTexts = map[string]string{
	"from": "first day, 2027-01-15; default: 29 days before the last", "to": "last day; default: today",
	"group_by": "day (default), kind, platform; or several",
}

// analyse reads the sums of a factory. Those of the whole period are said before the rows. What is zero is left out.
func analyse(ctx context.Context, c call, in analyticsIn) (toolResult, error) {
	q := pageIn{}.query("from", in.From, "to", in.To, "group_by", in.GroupBy)
	data, err := into[object](c.get(ctx, pathOf("factories", in.FactoryID, "analytics"), q))
	if err != nil {
		return toolResult{}, err
	}
	totals, _ := withoutZeros(data["totals"])
	rows := []any{}
	for _, row := range listOf(data["series"]) {
		if row, some := withoutZeros(row); some {
			rows = append(rows, row)
		}
	}
	text := ""
	if from, to := textOf(data["from"]), textOf(data["to"]); from != "" && to != "" {
		text = "From " + from + " to " + to + ": "
	}
	var sums []string
	for _, name := range []string{"published", "views", "likes", "comments", "shares", "saves", "clicks", "made",
		"failed", "cost_credits"} {
		if sum, ok := totals[name].(json.Number); ok {
			sums = append(sums, name+" "+sum.String())
		}
	}
	if len(sums) == 0 {
		sums = []string{"nothing was made or published"}
	}
	return toolResult{text: text + strings.Join(sums, ", ") + ". Zeros are left out.",
		data: object{"totals": totals, "series": rows, "from": data["from"], "to": data["to"],
			"timezone": data["timezone"], "comparison": data["comparison"]}}, nil
}

// withoutZeros returns an object without its zeros, and reports whether it has any other number.
func withoutZeros(v any) (object, bool) {
	out, some := object{}, false
	members, _ := plain(v).(object)
	for name, value := range members {
		number, isNumber := value.(json.Number)
		if value == nil || isNumber && number.String() == "0" {
			continue // null is a figure that no platform has told
		}
		out[name], some = value, some || isNumber
	}
	return out, some
}

// textOf returns a text of JSON, or an empty one.
func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// listOf returns the elements of a list of JSON, or nil.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
