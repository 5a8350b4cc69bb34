package simulate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/store/memtable"
)

// twin returns a second caller with the key of the account, who acts at the same time.
func (c *caller) twin() *caller {
	c.twins++
	return &caller{world: c.world, random: rand.New(rand.NewPCG(c.random.Uint64(), 2)),
		name: fmt.Sprint(c.name, "-twin", c.twins), principal: c.principal, factory: c.factory, accounts: c.accounts}
}

// together has callers act at the same time.
func together(act ...func()) {
	done := make(chan struct{})
	for _, f := range act {
		go func() {
			defer func() { done <- struct{}{} }()
			f()
		}()
	}
	for range act {
		<-done
	}
}

// provide creates an item of the caller's own texts and, if a picture is ready, media.
func (c *caller) provide() {
	body := object{"factory_id": c.factory, "kind": "post", "source": "provided",
		"caption": fmt.Sprint("Own words ", c.calls)}
	var ready []struct{ ID, State string }
	if c.random.IntN(2) == 0 {
		c.call(http.MethodGet, "/v1/media", nil, &ready)
	}
	if len(ready) > 0 && ready[0].State == "ready" {
		body["media"] = []string{ready[0].ID}
		body["fit"] = []string{"none", "pad", "crop"}[c.random.IntN(3)]
	}
	if c.random.IntN(2) == 0 {
		body["variants"] = object{"telegram": object{"caption": "Other words"},
			c.accounts[0]: object{"hashtags": []string{"own"}}}
	}
	switch c.random.IntN(4) {
	case 0:
		body["publish_at"], body["social_account_ids"] = "next_slot", c.accounts
	case 1:
		body["publish_at"], body["social_account_ids"] = time.Now().Add(between(c.random, time.Minute, time.Hour)),
			c.accounts[:1]
	}
	var one struct{ ID string }
	if c.call(http.MethodPost, "/v1/content-items", body, &one) == http.StatusAccepted {
		c.items = append(c.items, "/v1/content-items/"+one.ID)
	}
}

// decide has people decide about an item: two at once, or one who changes it afterwards, or one with a review link.
func (c *caller) decide(path string) {
	itemID := strings.TrimPrefix(path, "/v1/content-items/")
	approve := "/v1/approvals/" + itemID + "/approve"
	switch c.random.IntN(3) {
	case 0:
		a, b := c.twin(), c.twin()
		together(func() { a.call(http.MethodPost, approve, nil, nil) }, func() {
			if b.random.IntN(2) == 0 {
				b.call(http.MethodPost, approve, object{"note": "Good"}, nil)
			} else {
				b.call(http.MethodPost, "/v1/approvals/"+itemID+"/request-changes", object{"note": "Shorter"}, nil)
			}
		})
	case 1:
		c.call(http.MethodPost, approve, nil, nil)
		a, b := c.twin(), c.twin()
		together(func() {
			a.call(http.MethodPatch, path, object{"caption": fmt.Sprint("Changed ", c.calls)}, nil)
		}, func() {
			b.call(http.MethodPost, path+"/publish", object{"social_account_ids": c.accounts}, nil)
		})
	default:
		c.visit(itemID)
	}
}

// visit makes a review link and decides on its page.
func (c *caller) visit(itemID string) {
	body := object{"content_item_ids": []string{itemID}, "may": "decide"}
	if c.random.IntN(2) == 0 {
		body = object{"factory_id": c.factory, "may": []string{"decide", "view"}[c.random.IntN(2)]}
	}
	var link struct{ ID, URL string }
	if c.call(http.MethodPost, "/v1/review-links", body, &link) != http.StatusCreated || link.URL == "" {
		return // a late repeat leaves the address out
	}
	page := strings.TrimPrefix(link.URL, baseURL)
	var seen struct{ Version int64 }
	c.call(http.MethodGet, "/v1/content-items/"+itemID, nil, &seen)
	c.form(page, url.Values(publishing.Form(itemID, seen.Version, []string{item.Approved,
		item.ChangesRequested}[c.random.IntN(2)], "From the page")).Encode())
	if c.random.IntN(2) == 0 {
		c.call(http.MethodDelete, "/v1/review-links/"+link.ID, nil, nil)
		c.form(page, url.Values(publishing.Form(itemID, seen.Version, item.Approved, "")).Encode())
	}
}

// queue has several callers take the next slots of the schedule at the same time.
func (c *caller) queue() {
	var all []func()
	for range 2 + c.random.IntN(3) {
		path, twin := c.items[c.random.IntN(len(c.items))], c.twin()
		if !strings.HasPrefix(path, "/v1/content-items/") {
			continue
		}
		accounts := c.accounts[:1+c.random.IntN(len(c.accounts))]
		all = append(all, func() {
			twin.call(http.MethodPost, path+"/schedule", object{"publish_at": "next_slot",
				"social_account_ids": accounts}, nil)
		})
	}
	together(all...)
}

// teamwork are the facts about items that the simulation follows from change to change.
type teamwork struct {
	items    map[string]item.Record // by their keys, without those that were deleted
	setting  map[string]string      // the approval of factories
	of       map[string]string      // the item of a publication
	slots    map[string]string      // the item that has a time of an account
	provided map[string]bool        // items of the callers' own media
	made     map[string]int         // items by the entry of their automation, or by their deal
	day      map[string]int         // items by their automation and day
	looked   map[string]time.Time   // when automations have first read their feed
	failed   map[string]bool        // automations that have failed afterwards
	broken   []string
}

func newTeamwork() teamwork {
	return teamwork{map[string]item.Record{}, map[string]string{}, map[string]string{}, map[string]string{},
		map[string]bool{}, map[string]int{}, map[string]int{}, map[string]time.Time{}, map[string]bool{}, nil}
}

// observeTeam follows items and the settings of their factories.
func (w *world) observeTeam(c memtable.Change) {
	t := &w.team
	switch {
	case textOf(c.New, "kind") == "factory":
		var f struct{ ID, Approval string }
		must(json.Unmarshal([]byte(textOf(c.New, "doc")), &f))
		t.setting[f.ID] = f.Approval
		return
	case textOf(c.New, "kind") == item.PublicationKind:
		var p item.Row
		must(json.Unmarshal([]byte(textOf(c.New, "doc")), &p))
		t.of[p.ID] = textOf(c.New, "pk")
		return
	case textOf(c.New, "kind") != item.ItemKind && textOf(c.Old, "kind") != item.ItemKind:
		return
	}
	var now item.Record
	pk := textOf(c.Old, "pk")
	if doc := textOf(c.New, "doc"); doc != "" {
		must(json.Unmarshal([]byte(doc), &now))
		pk = textOf(c.New, "pk")
	}
	was, known := t.items[pk]
	for _, s := range was.Slots {
		if at := fmt.Sprint(s.Account, s.At); !slices.Contains(now.Slots, s) && t.slots[at] == pk {
			delete(t.slots, at)
		}
	}
	if now.Item.ID == "" {
		delete(t.items, pk)
		return
	}
	t.items[pk] = now
	for _, s := range now.Slots {
		if at := fmt.Sprint(s.Account, s.At); t.slots[at] != "" && t.slots[at] != pk {
			t.fail("%s takes the slot %s of %s", pk, at, t.slots[at])
		} else {
			t.slots[at] = pk
		}
	}
	if now.Item.State == item.Publishing && was.Item.State != item.Publishing &&
		now.Item.Blocked(t.setting[now.Item.FactoryID]) {
		t.fail("%s is being published, and its approval is %s", pk, now.Item.Approval.State)
	}
	if a := now.Item.Approval; known && a.At != nil && (was.Item.Approval.At == nil || *a.At != *was.Item.Approval.At) {
		w.ends[a.State+" "+pk]++
	}
	if !known {
		w.noteMade(pk, now)
	}
}

// noteMade counts a new item of an automation, or of a deal.
func (w *world) noteMade(pk string, r item.Record) {
	t := &w.team
	if t.provided[pk] = r.Item.Provided(); r.Item.Provided() && r.Item.State == item.Generated {
		w.ends[pk]++ // at once
	}
	if of := r.Item.Metadata["automation"]; of != "" {
		t.made[of+" "+r.Item.Metadata["entry"]]++
		// a step may last over midnight
		if at := r.Item.CreatedAt.Time; at.Sub(at.Truncate(24*time.Hour)) > 15*time.Minute {
			t.day[of+" "+at.Format(time.DateOnly)]++
		}
	}
	if deal := r.Item.Metadata["crm_deal_id"]; deal != "" {
		t.made[r.Item.Metadata["integration_id"]+" deal "+deal]++
	}
}

func (t *teamwork) fail(format string, args ...any) {
	t.broken = append(t.broken, fmt.Sprintf(format, args...))
}

// posting notes a call that makes a post, whose item must be approved at that moment if its factory requires it.
func (t *teamwork) posting(publicationID string) {
	pk := t.of[publicationID]
	r, ok := t.items[pk]
	if ok && r.Item.Blocked(t.setting[r.Item.FactoryID]) {
		t.fail("%s of %s is posted, and the approval is %s", publicationID, pk, r.Item.Approval.State)
	}
}

// checkTeam checks that nothing was published without an approval, no slot taken twice and no entry made twice, and
// that own media cost nothing.
func (w *world) checkTeam(fail func(format string, args ...any)) {
	for _, broken := range w.team.broken {
		fail("%s", broken)
	}
	for entry, n := range w.team.made {
		if n > 1 {
			fail("%s has %d items", entry, n)
		}
	}
	for pk, r := range w.team.items {
		if r.Item.Provided() && (r.Attempt.Credits != 0 || r.Item.CostCredits != 0) {
			fail("%s is the caller's own, and costs %d", pk, r.Item.CostCredits)
		}
	}
	for _, c := range w.callers {
		for _, a := range c.automations {
			w.checkAutomation(a, fail)
		}
		c.checkDeals(fail)
	}
}
