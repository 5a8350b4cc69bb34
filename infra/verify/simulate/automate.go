package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/area/automation"
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
			s.fake.PutProduct(crm.Product{ID: id, SKU: "crm-" + id, Name: "Socks " + id, Price: "19.00", Currency: "EUR"})
		}
	default:
		if s.id == "" {
			return
		}
		s.deals++
		id := strconv.Itoa(s.deals)
		s.fake.PutDeal(crm.Deal{ID: id, Name: "Deal " + id, Pipeline: "7", Stage: wonStage, Amount: "10",
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
