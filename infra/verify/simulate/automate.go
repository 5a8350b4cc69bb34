package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store/memtable"
	"github.com/content-automation/api/testdata/fakes/crms"
)

const (
	// automators is the number of callers of whom one automates.
	automators = 6
	// feeds is the domain of feeds, and crmHost that of CRMs. Each caller has a host.
	feeds, crmHost = "feeds.example.com", "crm.example.com"
	// feedEvery is the time between two entries of a feed, and feedShows the number of those that it shows.
	feedEvery, feedShows = 7 * time.Minute, 20
	// automates is the time for which automations run after their caller's other actions.
	automates = 3 * time.Hour
)

// feedOf serves the feed of a caller, which fails at times.
func (w *world) feedOf(rw http.ResponseWriter, req *http.Request) {
	if !w.calm && chance(w.random, w.faults.Receiver) {
		rw.WriteHeader(http.StatusBadGateway)
		return
	}
	last := int(time.Since(begin) / feedEvery)
	tag := strconv.Quote(strconv.Itoa(last))
	if rw.Header().Set("ETag", tag); req.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprint(rw, `<rss version="2.0"><channel><title>News</title>`)
	for n := last; n > max(last-feedShows, 0); n-- {
		fmt.Fprintf(rw, "<item><guid>%d</guid><title>Entry %[1]d</title><link>https://%s/%[1]d</link></item>", n, feeds)
	}
	fmt.Fprint(rw, "</channel></rss>")
}

// automated is an automation of a caller.
type automated struct {
	id, kind, mark string
	most           int
	to             time.Time
}

// observeAutomation counts the ends of automations by failures, and notes when they have first looked and if they have
// failed since: then they have waited longer.
func (w *world) observeAutomation(c memtable.Change) {
	if c.New == nil {
		return
	}
	var r automation.Record
	must(json.Unmarshal([]byte(textOf(c.New, "doc")), &r))
	if r.State == automation.Failed && stateOf(c.Old) != string(automation.Failed) {
		w.ends[r.ID]++
	}
	if since := w.team.looked; r.FeedRead && since[r.ID].IsZero() {
		since[r.ID] = time.Now()
	}
	w.team.failed[r.ID] = w.team.failed[r.ID] || r.FeedRead && r.Failure != nil
}

// automate makes automations of each kind, and connects a CRM to a shop.
func (c *caller) automate() {
	var f struct{ ID string }
	if c.call(http.MethodPost, "/v1/factories", object{"type": "seller", "name": "Shop",
		"settings": object{"currency": "EUR"}}, &f) != http.StatusCreated {
		return
	}
	c.shop = f.ID
	for _, a := range []struct {
		factory string
		trigger object
		entry   string
	}{
		{c.factory, object{"kind": "feed", "url": "https://" + c.name + "." + feeds + "/feed.xml"}, "{{url}}"},
		{c.factory, object{"kind": "time", "cron": "*/10 * * * *"}, "{{date}} {{time}}"},
		{c.shop, object{"kind": "product"}, "{{name}}"},
	} {
		made := automated{kind: a.trigger["kind"].(string), mark: fmt.Sprint(c.name, " ", a.trigger["kind"]), most: 100}
		template := object{"kind": "post", "source": "provided", "caption": "News",
			"metadata": object{"automation": made.mark, "entry": a.entry}}
		if made.kind == "product" {
			delete(template, "source")
			template["prompt"] = "Something new"
		}
		if made.kind == "time" && c.random.IntN(2) == 0 {
			made.most = 3
		}
		var out struct{ ID string }
		if c.call(http.MethodPost, "/v1/automations", object{"factory_id": a.factory, "trigger": a.trigger,
			"template": template, "max_per_day": made.most}, &out) == http.StatusCreated {
			made.id = out.ID
			c.automations = append(c.automations, made)
		}
	}
	c.sell()
}

// sales is the CRM of a caller.
type sales struct {
	fake        *crms.Fake
	id, hookURL string
	deals       int
}

// wonStage is the stage of deals that makes content.
const wonStage = "142"

// sell connects a CRM.
func (c *caller) sell() {
	c.sales.fake = crms.Bitrix(time.Now)
	var out struct {
		ID      string
		HookURL *string `json:"hook_url"`
	}
	body := object{"kind": "bitrix24", "factory_id": c.shop,
		"webhook_url": "https://" + c.name + "." + crmHost + "/rest/1/" + crms.Secret + "/",
		"mapping": object{"products": object{"import": true}, "stages": []object{{"pipeline": "7", "stage": wonStage,
			"kind": "post", "template": "A case study"}}}}
	if c.call(http.MethodPost, "/v1/integrations", body, &out) != http.StatusCreated {
		return
	}
	if c.sales.id = out.ID; out.HookURL != nil {
		c.sales.hookURL = *out.HookURL
	}
}

// trade adds a product to the shop, wins a deal in the CRM, or synchronizes it.
func (c *caller) trade() {
	s := &c.sales
	switch c.random.IntN(4) {
	case 0:
		c.call(http.MethodPost, "/v1/products", object{"factory_id": c.shop, "sku": fmt.Sprint("own-", c.calls),
			"name": fmt.Sprint("Shoe ", c.calls), "price": object{"amount": 9900, "currency": "EUR"}}, nil)
	case 1:
		if s.id != "" {
			c.call(http.MethodPost, "/v1/integrations/"+s.id+"/sync", nil, nil)
		}
	case 2:
		if s.fake != nil {
			id := strconv.Itoa(c.calls)
			s.fake.PutProduct(crms.Product{ID: id, SKU: "crm-" + id, Name: "Socks " + id, Price: "19.00", Currency: "EUR"})
		}
	default:
		if s.id == "" {
			return
		}
		s.deals++
		id := strconv.Itoa(s.deals)
		s.fake.PutDeal(crms.Deal{ID: id, Name: "Deal " + id, Pipeline: "7", Stage: wonStage, Amount: "10",
			Currency: "EUR", ChangedAt: time.Now()})
		if s.hookURL == "" {
			return // a synchronization finds it
		}
		hook := url.Values{"event": {"ONCRMDEALUPDATE"}, "data[FIELDS][ID]": {id}, "ts": {"1"},
			"auth[member_id]": {crms.Member}, "auth[application_token]": {crms.Proof}}.Encode()
		for range 1 + c.random.IntN(2) {
			c.form(strings.TrimPrefix(s.hookURL, baseURL), hook)
		}
	}
}

// settle waits while the automations run, and ends them and the integration: both would go on for ever.
func (c *caller) settle() {
	if c.shop == "" {
		return
	}
	for until := time.Now().Add(automates); time.Now().Before(until); {
		c.trade()
		<-time.After(between(c.random, time.Minute, time.Hour))
	}
	for i := range c.automations {
		a := &c.automations[i]
		a.to = time.Now()
		for c.call(http.MethodDelete, "/v1/automations/"+a.id, nil, nil) == http.StatusConflict {
			<-time.After(time.Second)
		}
	}
	for c.sales.id != "" && c.call(http.MethodDelete, "/v1/integrations/"+c.sales.id, nil,
		nil) == http.StatusConflict {
		<-time.After(time.Second)
	}
}

// slack is the time within which an automation takes an entry, while the faults go on.
const slack = time.Hour

// checkAutomation checks that no day has more items than the automation may make, and that none of its entries is
// missing if it has not failed.
func (w *world) checkAutomation(a automated, fail func(format string, args ...any)) {
	for day, n := range w.team.day {
		if strings.HasPrefix(day, a.mark+" ") && n > a.most {
			fail("%s has %d items, and may have %d", day, n, a.most)
		}
	}
	from := w.team.looked[a.id]
	if a.kind != "feed" || from.IsZero() || w.team.failed[a.id] {
		return
	}
	for n := 1; ; n++ {
		at := begin.Add(time.Duration(n) * feedEvery)
		if at.After(a.to.Add(-slack)) {
			return
		}
		if entry := fmt.Sprintf("%s https://%s/%d", a.mark, feeds, n); at.After(from) &&
			w.team.made[entry] == 0 {
			fail("%s has no item", entry)
		}
	}
}

// checkDeals checks that no deal has two notes about one item.
func (c *caller) checkDeals(fail func(format string, args ...any)) {
	if c.sales.fake == nil {
		return
	}
	notes := map[crms.Note]int{}
	for _, n := range c.sales.fake.Notes() {
		if notes[n]++; notes[n] == 2 {
			fail("the deal %s of %s has a note twice: %s", n.Deal, c.name, n.Text)
		}
	}
}

// plan plans content for some days, which may replace planned content, or pauses or resumes the factory.
func (c *caller) plan() {
	path := "/v1/factories/" + c.factory
	switch c.random.IntN(4) {
	case 0:
		c.call(http.MethodPatch, path, object{"state": "paused"}, nil)
	case 1:
		c.call(http.MethodPatch, path, object{"state": "active"}, nil)
	default:
		body := object{"days": 1 + c.random.IntN(4), "posts_per_day": 1 + c.random.IntN(10),
			"content_types": []string{"post", "carousel"}, "replace": c.random.IntN(2) == 0}
		c.call(http.MethodPost, path+"/content-plan", body, nil)
	}
}

// observePlan counts the plans that are completed.
func (w *world) observePlan(c memtable.Change) {
	state := plan.State(planOf(c.New).State)
	if before := planOf(c.Old).State; state != before && (state == plan.Completed || state == plan.Failed) {
		w.ends["planned "+textOf(c.New, "sk")]++
	}
}

func planOf(it attributes) (p plan.Plan) {
	if doc := textOf(it, "doc"); doc != "" {
		must(json.Unmarshal([]byte(doc), &p))
	}
	return p
}

// checkPlans checks that all plans have ended, that each of their items counts once, and that no plan has more
// items than it planned.
func (w *world) checkPlans(fail func(format string, args ...any)) {
	counts, made := map[string]int64{}, map[string]int64{}
	for _, it := range w.items() {
		switch textOf(it, "kind") {
		case factory.CountsKind:
			planID, _, _ := strings.Cut(textOf(it, "sk"), "#")
			counts[planID] = numberOf(it, "n_generated") + numberOf(it, "n_failed") + numberOf(it, "n_canceled")
			if reserved := numberOf(it, "n_reserved"); reserved != 0 {
				fail("%s counts %d reserved credits", planID, reserved)
			}
		case "content_item":
			made[textOf(it, "f_plan")]++
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != plan.ItemKind {
			continue
		}
		p := planOf(it)
		if !p.State.Final() || counts[p.ID] != p.Items.Total || made[p.ID] > p.Items.Total {
			fail("%s is %s; of %d items %d were made and %d count", p.ID, p.State, p.Items.Total, made[p.ID],
				counts[p.ID])
		}
	}
}

// reviewEnds are the events of diagnoses, proposals, plans, trainings and approvals. Each has a mark for the change
// that it reports.
var reviewEnds = map[event.Type]string{event.DiagnosisCompleted: "diagnosed ", event.ProposalCreated: "proposed ",
	event.ProposalApplied: "applied ", event.ContentPlanCompleted: "planned ", event.ContentPlanFailed: "planned ",
	event.ContentApproved: "approved ", event.ContentChangesRequested: "changes_requested ",
	event.TrainingCompleted: "completed ", event.TrainingFailed: "failed "}

// observeReview counts the diagnoses that are completed, and the proposals that are created and applied.
func (w *world) observeReview(c memtable.Change) {
	var doc struct{ ID string }
	must(json.Unmarshal([]byte(textOf(c.New, "doc")), &doc))
	state, before := stateOf(c.New), stateOf(c.Old)
	switch {
	case state == before:
	case state == string(advice.Completed):
		w.ends["diagnosed "+doc.ID]++
	case state == string(advice.Open):
		w.ends["proposed "+doc.ID]++
	case state == string(advice.Applied):
		w.ends["applied "+doc.ID]++
	}
}

// review diagnoses the factory, or applies one of its proposals.
func (c *caller) review() {
	path := "/v1/factories/" + c.factory
	var open []struct{ ID string }
	c.call(http.MethodGet, path+"/proposals?state=open", nil, &open)
	if len(open) == 0 || c.random.IntN(2) == 0 {
		c.call(http.MethodPost, path+"/diagnose", nil, nil)
		return
	}
	c.call(http.MethodPost, path+"/proposals/"+open[c.random.IntN(len(open))].ID+"/apply", nil, nil)
}

// checkApplied checks that each version of a factory follows from one change: no two proposals made the same version,
// and each made a later one than it was made for.
func (w *world) checkApplied(fail func(format string, args ...any)) {
	versions, applied := map[string]int64{}, map[string][]int64{}
	for _, it := range w.items() {
		var doc struct {
			ID             string
			Version        int64
			FactoryID      string `json:"factory_id"`
			BaseVersion    int64  `json:"base_version"`
			AppliedVersion *int64 `json:"applied_version"`
		}
		switch textOf(it, "kind") {
		case "factory":
			must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
			versions[doc.ID] = doc.Version
		case advice.ProposalItemKind:
			must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
			if v := doc.AppliedVersion; v != nil {
				if applied[doc.FactoryID] = append(applied[doc.FactoryID], *v); *v <= doc.BaseVersion {
					fail("%s was made for the version %d, and made the version %d", doc.ID, doc.BaseVersion, *v)
				}
			}
		}
	}
	for id, made := range applied {
		slices.Sort(made)
		if distinct := slices.Compact(slices.Clone(made)); len(distinct) != len(made) ||
			made[len(made)-1] > versions[id] {
			fail("%s has the version %d, and proposals made the versions %v", id, versions[id], made)
		}
	}
}

// filled returns the answer of a text model to a form. Some answers do not fit the form.
func (w *world) filled(f *provider.Form) *provider.Result {
	if w.random.IntN(4) == 0 {
		return &provider.Result{Object: json.RawMessage(
			`{"proposals":[{"title":"Make nothing","rationale":"None.","patch":{"state":"paused"},"expected_effect":"None"}]}`)}
	}
	return &provider.Result{Object: f.Sample}
}

// talker is the language model of the architect. It answers most messages with a draft.
type talker struct{}

var _ provider.Converser = talker{}

// Converse implements provider.Converser.
func (talker) Converse(ctx context.Context, c provider.Conversation) (turn provider.Turn, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Converse", refused: problem(provider.Transient),
		lost: problem(provider.UnknownOutcome), do: func() error {
			turn = provider.Turn{Model: true, Text: "Done."}
			if last := c.Turns[len(c.Turns)-1]; len(last.Results) == 0 && w.random.IntN(4) > 0 {
				turn = provider.Turn{Model: true, Calls: []provider.ToolCall{
					{ID: "call", Name: "draft_content_item",
						Input: json.RawMessage(`{"body":{"kind":"post","prompt":"A new shoe"}}`)},
				}}
			}
			return nil
		}})
	return turn, err
}

// patient is the number of tries of a call whose failure may be its correct answer.
const patient = 4

// talk sends a message to the architect, or applies a draft.
func (c *caller) talk() {
	if c.chat == "" {
		var made struct{ ID string }
		c.call(http.MethodPost, "/v1/architect/chats", object{"factory_id": c.factory}, &made)
		c.chat = made.ID
		return
	}
	var open []struct{ ID string }
	c.call(http.MethodGet, "/v1/architect/drafts?state=open", nil, &open)
	if len(open) == 0 || c.random.IntN(2) == 0 {
		c.repeat(patient, http.MethodPost, "/v1/architect/chats/"+c.chat+"/messages",
			object{"text": "A post about a shoe"}, nil)
		return
	}
	var applied struct {
		ResultID string `json:"result_id"`
	}
	if c.call(http.MethodPost, "/v1/architect/drafts/"+open[c.random.IntN(len(open))].ID+"/apply", nil,
		&applied) == http.StatusCreated {
		c.items = append(c.items, "/v1/content-items/"+applied.ResultID)
	}
}

// checkChats checks that each message was charged if it has a reply, and released if it has none, and that there
// are exactly the drafts that the replies announce.
func (w *world) checkChats(fail func(format string, args ...any)) {
	charged, drafts := map[string]int{}, map[string]bool{}
	for _, it := range w.items() {
		switch textOf(it, "kind") {
		case ledger.Kind:
			var e struct{ Kind, Subject string }
			must(json.Unmarshal([]byte(textOf(it, "doc")), &e))
			if e.Kind == "reserve" && textOf(it, "x_state") == "charged" {
				charged[e.Subject]++
			}
		case architect.DraftKind:
			drafts[textOf(it, "pk")] = true
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != architect.Kind {
			continue
		}
		var r architect.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		if r.QuestionID != "" {
			fail("the chat %s waits for the reply to %s", r.ID, r.QuestionID)
		}
		for i, m := range r.Messages {
			replied := 0
			if i+1 < len(r.Messages) && r.Messages[i+1].Role == architect.Assistant {
				replied = 1
			}
			if m.Role == architect.User && charged[m.ID] != replied {
				fail("%s has %d replies, and was charged %d times", m.ID, replied, charged[m.ID])
			}
			for _, id := range m.DraftIDs {
				if !drafts[id] {
					fail("%s names the draft %s, which there is not", m.ID, id)
				}
				delete(drafts, id)
			}
		}
	}
	for id := range drafts {
		fail("no message names the draft %s", id)
	}
}
