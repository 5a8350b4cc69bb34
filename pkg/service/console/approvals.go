package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
)

const approvalsPath = "/settings/approvals"

func addApprovals(open func(string, func(*request) error)) {
	open("GET "+approvalsPath, func(r *request) error { return r.showQueue(http.StatusOK, "") })
	open("POST "+approvalsPath, decideMany)
}

// The tabs of the queue: by the time at which items are due, and those whose changes were requested.
const (
	dueToday   = "today"
	dueWeek    = "week"
	allWaiting = "all"
	changesTab = "changes_requested"
)

var queueTabs = []choice{{dueToday, "Due today"}, {dueWeek, "This week"}, {allWaiting, "All"},
	{changesTab, "Changes requested"}}

const (
	// mostQueued bounds the items that the queue reads, and pageOfQueue those of a page: one call approves them.
	mostQueued, pageOfQueue = 1000, 100
	// queueFields are what a card shows.
	queueFields = "version,factory_id,kind,prompt,title,caption,approval,media,publish_at,state,social_account_ids"
)

// queue has the items that wait for a decision, those that are due first at the front.
type queue struct {
	all   []content
	names names
	// Given are the filters, and Tab the chosen tab.
	Given map[string]string
	Tab   string
	now   time.Time
}

// queueOf reads the queue with the filters of a query.
func (r *request) queueOf(q url.Values) (*queue, error) {
	of := &queue{Given: map[string]string{}, Tab: allWaiting, now: r.site.Now().In(zoneOf(r.Request, r.session))}
	for _, t := range queueTabs {
		if q.Get("tab") == t.Value || q.Get("tab") == "" && q.Get("approval") == t.Value {
			of.Tab = t.Value
		}
	}
	query := url.Values{"state": {"generated,scheduled"}, "approval": {"pending,changes_requested"},
		"fields": {queueFields}}
	for _, name := range []string{"factory_id", "profile_id"} {
		id, err := r.resolve(name, q.Get(name))
		if err != nil {
			return nil, err
		}
		if of.Given[name] = id; id != "" {
			query.Set(name, id)
		}
	}
	of.Given["platform"] = q.Get("platform")
	var err error
	if of.all, err = listAll[content](r.Context(), r.api, "/v1/content-items", query, mostQueued); err != nil {
		return nil, err
	}
	if on := of.Given["platform"]; on != "" {
		accounts, err := r.outlets()
		if err != nil {
			return nil, err
		}
		of.all = slices.DeleteFunc(of.all, func(c content) bool {
			return !slices.ContainsFunc(c.SocialAccountIDs, func(id string) bool { return accounts[id].Platform == on })
		})
	}
	slices.SortStableFunc(of.all, func(a, b content) int {
		return cmp.Or(compareTimes(a.PublishAt, b.PublishAt), cmp.Compare(a.ID, b.ID))
	})
	of.names, err = r.names(factoriesOf(of.all)...)
	return of, err
}

// compareTimes compares times of which no time is the latest.
func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(*b)
}

// in reports whether an item belongs to a tab.
func (q *queue) in(tab string, c content) bool {
	if changes := c.Approval.State == changesTab; changes || tab == changesTab {
		return changes && tab == changesTab
	}
	switch tab {
	case dueToday:
		return c.PublishAt != nil && c.PublishAt.Before(clock.On(q.now, 24*time.Hour))
	case dueWeek:
		return c.PublishAt != nil && c.PublishAt.Before(clock.On(q.now, 7*24*time.Hour))
	}
	return true
}

// of returns the items of a tab.
func (q *queue) of(tab string) (some []content) {
	for _, c := range q.all {
		if q.in(tab, c) {
			some = append(some, c)
		}
	}
	return some
}

// queued are the items of a client that wait.
type queued struct {
	Face      face
	Items     []content
	Platforms []string
}

// IDs returns the ids of the items with spaces between them.
func (g queued) IDs() string { return strings.Join(idsOf(g.Items), " ") }

func idsOf(all []content) (ids []string) {
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids
}

func factoriesOf(all []content) (ids []string) {
	for _, c := range all {
		ids = append(ids, c.FactoryID)
	}
	return ids
}

// byClient groups items by their clients. The client whose item is due first is the first.
func byClient(all []content, n names, accounts map[string]outlet) (groups []queued) {
	at := map[string]int{}
	for _, c := range all {
		f := n.FaceOf(c.FactoryID)
		i, known := at[f.ID]
		if !known {
			i = len(groups)
			at[f.ID] = i
			groups = append(groups, queued{Face: f})
		}
		g := &groups[i]
		g.Items = append(g.Items, c)
		for _, id := range c.SocialAccountIDs {
			if p := accounts[id].Platform; p != "" && !slices.Contains(g.Platforms, p) {
				g.Platforms = append(g.Platforms, p)
			}
		}
	}
	faces := make([]*face, len(groups))
	for i := range groups {
		faces[i] = &groups[i].Face
	}
	distinct(faces)
	return groups
}

// tab is a tab of a list, with the number of its rows.
type tab struct {
	Text, Path string
	N          int
	Chosen     bool
}

// showQueue shows the items that wait for a decision. The message is why a form did nothing.
func (r *request) showQueue(status int, message string) error {
	// A form goes back to the filters of its page.
	query := r.URL.Query()
	if r.Method == http.MethodPost {
		query, _ = url.ParseQuery(r.PostFormValue("queue")) // a query that cannot be read has no filters
	}
	q, err := r.queueOf(query)
	if err != nil {
		return err
	}
	accounts, err := r.outlets()
	if err != nil {
		return err
	}
	some := q.of(q.Tab)
	page, _ := strconv.Atoi(query.Get("page"))
	page = max(0, min(page, (len(some)-1)/pageOfQueue))
	shown := some[page*pageOfQueue : min(len(some), (page+1)*pageOfQueue)]
	r.permitPictures(shown)
	forgetCorner(r)
	v := r.view("Approvals", approvalsPath)
	v.Error = message
	kept := queueFilters(query)
	var tabs []tab
	for _, t := range queueTabs {
		kept.Set("tab", t.Value)
		tabs = append(tabs, tab{t.Text, "?" + kept.Encode(), len(q.of(t.Value)), t.Value == q.Tab})
	}
	more := ""
	if len(some) > (page+1)*pageOfQueue {
		kept.Set("tab", q.Tab)
		kept.Set("page", strconv.Itoa(page+1))
		more = "?" + kept.Encode()
	}
	data := map[string]any{"Tab": q.Tab, "Groups": byClient(shown, q.names, accounts), "Tabs": tabs, "Filters": q.Given,
		"Names": q.names, "Accounts": accounts, "More": more, "Waiting": len(q.of(allWaiting)), "Shown": len(shown),
		"Queue": queueFilters(query).Encode(), "Platforms": platformsOf(accounts), "Seen": seenOf(shown)}
	if waiting := q.of(allWaiting); len(waiting) > 0 && waiting[0].PublishAt != nil {
		data["Next"] = *waiting[0].PublishAt
	}
	if len(shown) > 0 {
		data["First"] = shown[0].ID
	}
	data["Undo"] = undoOf(v, r.URL.Query())
	v.Data = data
	return r.show(status, "approvals", v)
}

// queueFilters are the parameters of a query that choose items of the queue.
func queueFilters(q url.Values) url.Values {
	kept := url.Values{}
	for _, name := range []string{"tab", "approval", "factory_id", "profile_id", "platform", "page"} {
		if value := q.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	return kept
}

// platformsOf returns the platforms of social accounts.
func platformsOf(accounts map[string]outlet) (all []string) {
	for _, a := range accounts {
		if !slices.Contains(all, a.Platform) {
			all = append(all, a.Platform)
		}
	}
	slices.Sort(all)
	return all
}

// seenOf returns the versions of items as the page shows them.
func seenOf(all []content) string {
	var seen []string
	for _, c := range all {
		seen = append(seen, c.ID+":"+strconv.FormatInt(c.Version, 10))
	}
	return strings.Join(seen, " ")
}

// undone is what the last form has done, and the items of a form that takes it back.
type undone struct {
	Text  string
	Items []string
}

// undoOf returns what the address says of the last form, or nil.
func undoOf(v *view, q url.Values) *undone {
	n, _ := strconv.Atoi(q.Get("n"))
	switch q.Get("done") {
	case "approve":
		u := &undone{Text: v.T("Approved: %d.", n)}
		if n == 1 {
			u.Text = v.T("The item is approved.")
		}
		for id := range strings.SplitSeq(q.Get("of"), ".") {
			if id != "" {
				u.Items = append(u.Items, "cnt_"+id)
			}
		}
		return u
	case "request-changes":
		return &undone{Text: v.T("Changes are requested. What is concerned stays here until it is approved: %d.", n)}
	case "withdraw":
		return &undone{Text: v.T("Taken back: %d.", n)}
	}
	return nil
}

// bulkAnswer is what a call for many items has done.
type bulkAnswer struct {
	Results []struct {
		ID    string   `json:"content_item_id"`
		Error *failure `json:"error"`
	} `json:"results"`
}

// bulk changes items in one call, and returns those that were changed and why the others were not. A version that the
// person has not seen is not approved.
func (r *request) bulk(action string, ids []string, seen map[string]int64) (done []string, refused error) {
	items := []map[string]any{}
	for _, id := range ids {
		one := map[string]any{"content_item_id": id}
		if seen[id] != 0 && action == "approve" {
			one["version"] = seen[id]
		}
		items = append(items, one)
	}
	if len(items) == 0 {
		return nil, &failure{Status: http.StatusUnprocessableEntity, Message: "Choose at least one post."}
	}
	var out bulkAnswer
	err := r.api.change(r.Context(), http.MethodPost, "/v1/publishing/bulk", r.once(),
		map[string]any{"action": action, "items": items}, &out)
	if err != nil {
		return nil, err
	}
	for _, one := range out.Results {
		if one.Error == nil {
			done = append(done, one.ID)
			continue
		}
		if one.Error.Status = http.StatusConflict; one.Error.Code == string(errs.VersionMismatch) {
			one.Error.Message = codes[errs.VersionMismatch]
		}
		refused = errors.Join(refused, one.Error)
	}
	return done, refused
}

// decideMany does what a button of the queue says with one item, those of a client, or the chosen ones. Its value is
// the act, and what it is for.
func decideMany(r *request) error {
	act, of, one := strings.Cut(r.PostFormValue("do"), ":")
	ids := r.PostForm["item"]
	switch {
	case one && strings.HasPrefix(of, "cnt_"):
		ids = []string{of}
	case one:
		ids = strings.Fields(r.PostFormValue("of-" + of))
	}
	seen := map[string]int64{}
	for pair := range strings.FieldsSeq(r.PostFormValue("seen")) {
		id, version, _ := strings.Cut(pair, ":")
		seen[id], _ = strconv.ParseInt(version, 10, 64) // a version that is none was not seen
	}
	var done []string
	var err error
	switch act {
	case "approve", "withdraw":
		done, err = r.bulk(act, ids, seen)
	case "request-changes":
		done, err = r.requestChanges(ids, strings.TrimSpace(r.PostFormValue("note")), seen)
	case "share":
		return r.redirect(reviewLinksPath + "/new?" + url.Values{"item": ids}.Encode())
	}
	if err != nil && len(done) == 0 {
		message, other := messageOf(err)
		if other != nil {
			return other
		}
		return r.showQueue(http.StatusUnprocessableEntity, message)
	}
	if err != nil {
		message, _ := messageOf(err) // some were changed, so that it is no failure of the service
		return r.showQueue(http.StatusConflict, message)
	}
	return r.backToQueue(act, done)
}

// backToQueue leads to the queue with its filters and what was done.
func (r *request) backToQueue(act string, done []string) error {
	q, _ := url.ParseQuery(r.PostFormValue("queue")) // a query that cannot be read has no filters
	q = queueFilters(q)
	if act != "" {
		q.Set("done", act)
		q.Set("n", strconv.Itoa(len(done)))
	}
	if act == "approve" {
		q.Set("of", strings.ReplaceAll(strings.Join(done, "."), "cnt_", ""))
	}
	return r.redirect(approvalsPath + "?" + q.Encode())
}

const messageNote = "Write in the note what is to be changed."

// requestChanges requests changes of items with a note, and returns those of which they are requested.
func (r *request) requestChanges(ids []string, note string, seen map[string]int64) (done []string, refused error) {
	switch {
	case len(ids) == 0:
		return nil, &failure{Status: http.StatusUnprocessableEntity, Message: "Choose at least one post."}
	case note == "":
		return nil, &failure{Status: http.StatusUnprocessableEntity, Message: messageNote}
	}
	for _, id := range ids {
		a := r.api
		if seen[id] != 0 {
			a.version = strconv.FormatInt(seen[id], 10)
		}
		err := a.change(r.Context(), http.MethodPost, "/v1/approvals/"+url.PathEscape(id)+"/request-changes",
			r.once()+"-"+id, map[string]any{"note": note}, nil)
		if err == nil {
			done = append(done, id)
		}
		refused = errors.Join(refused, err)
	}
	return done, refused
}

// neighbours are the items before and after one in the queue that it was opened from.
type neighbours struct {
	Queue, Before, After string
	Place, Of            int
}

// neighboursOf returns the place of an item in a queue, or nil if it was not opened from one.
func (r *request) neighboursOf(id, query string) (*neighbours, error) {
	q, err := url.ParseQuery(query)
	if query == "" || err != nil {
		return nil, nil //nolint:nilnil // the item stands alone
	}
	of, err := r.queueOf(q)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, g := range byClient(of.of(of.Tab), of.names, nil) {
		ids = append(ids, idsOf(g.Items)...)
	}
	n := &neighbours{Queue: query, Of: len(ids)}
	at := slices.Index(ids, id)
	if at > 0 {
		n.Before = ids[at-1]
	}
	if at >= 0 && at+1 < len(ids) {
		n.After = ids[at+1]
	}
	n.Place = at + 1
	return n, nil
}

// decide approves an item, or requests changes. It is refused if the item has changed since the person saw it. The next
// item of the queue follows, if the item was opened from one.
func decide(r *request) error {
	id, note := r.PathValue("id"), strings.TrimSpace(r.PostFormValue("note"))
	next, err := r.neighboursOf(id, r.PostFormValue("queue"))
	if err != nil {
		return err
	}
	action, body := "/approve", map[string]any{}
	if r.PostFormValue("decision") == changesTab {
		if action = "/request-changes"; note == "" {
			return r.showItem(http.StatusUnprocessableEntity, mark(r, "note", messageNote))
		}
	}
	if note != "" {
		body["note"] = note
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err = a.change(r.Context(), http.MethodPost, r.apiPath("approvals")+action, r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showItem(http.StatusUnprocessableEntity, message)
	}
	if next == nil || next.After == "" {
		if next == nil && action == "/request-changes" {
			r.PostForm.Set("queue", "tab="+changesTab)
		}
		return r.backToQueue(strings.TrimPrefix(action, "/"), []string{id})
	}
	return r.redirect(contentPath + "/" + next.After + "?" + url.Values{"queue": {next.Queue},
		"done": {strings.TrimPrefix(action, "/")}}.Encode())
}
