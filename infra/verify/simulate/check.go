package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/operate/recovery"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/task"
)

// longest is the time after the last fault within which everything must have ended.
const longest = 48 * time.Hour

// quiet reports whether nothing is left to do, or the world has had too much time for it.
func (w *world) quiet() bool {
	w.mu.Lock()
	living, alive := w.living, w.alive
	w.mu.Unlock()
	if living > 0 {
		return false
	}
	if !w.calm {
		w.calm, w.calmed = true, time.Now()
		w.note("calm")
		w.torn = append(w.whole(), w.checkHeld()...) // work is still under way
	}
	if !w.stopped && (len(w.pending()) == 0 || time.Since(w.calmed) > longest) {
		w.stopped = true
	}
	return w.stopped && (alive == 0 || time.Since(w.calmed) > longest+time.Hour)
}

func (w *world) running() (n int) {
	for _, f := range w.all {
		n += f.running
	}
	return n
}

// pending returns the work that is still to be done.
func (w *world) pending() (all []string) {
	if n := w.running(); n > 0 {
		return []string{fmt.Sprint(n, " functions run")}
	}
	for _, f := range w.followers {
		for i := range f.shards {
			if n := len(f.shards[i].records); n > 0 {
				all = append(all, fmt.Sprint(n, " records of the stream did not reach ", f.Name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.queues)) {
		q := w.queues[name]
		if len(q.all) > 0 {
			all = append(all, fmt.Sprint(len(q.all), " messages in ", name))
		}
	}
	if all != nil {
		return all
	}
	if w.due == nil || w.dueAt != w.seen {
		w.due, w.dueAt = w.overdue(), w.seen
	}
	return w.due
}

// overdue returns the work that the table still has.
func (w *world) overdue() (all []string) {
	for _, it := range w.items() {
		switch kind := textOf(it, "kind"); {
		case w.waits(it):
		case kind == incoming.ItemKind && stateOf(it) == string(incoming.Pending):
			all = append(all, "pending: "+textOf(it, "pk"))
		case kind == "delivery" && textOf(it, "f_state") == "pending":
			all = append(all, "not delivered: "+textOf(it, "sk"))
		// What is listed there without being due.
		case slices.Contains([]string{"delivery", event.Kind, item.ItemKind, item.ShownKind}, kind):
		case it["due_pk"] != nil:
			all = append(all, "due: "+textOf(it, "pk"))
		}
	}
	return all
}

func (w *world) items() []attributes {
	out, err := w.engine.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(tableName)})
	must(err)
	return out.Items
}

// check returns the invariants that do not hold at the end.
func (w *world) check() (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	broken = append(w.pending(), slices.Sorted(maps.Keys(w.forbidden))...)
	for _, name := range slices.Sorted(maps.Keys(w.queues)) {
		for _, m := range w.queues[name].dead {
			fail("dead letter of %s: %s", name, m.body)
		}
	}
	// paid is the amount paid for work by the entries, and spent is the amount that the key has counted.
	type accountState struct{ sum, held, paid, spent int64 }
	accounts := map[tenant.Account]*accountState{}
	for _, c := range w.callers {
		accounts[c.principal.Account] = &accountState{}
	}
	// content is the amount paid for the content of each factory by the entries.
	content := map[string]int64{}
	told := map[string]int{}
	for _, e := range w.happened {
		var doc struct {
			Type string
			Data struct {
				Object struct {
					ID      string
					Failure *struct{ Stage string }
				}
			}
		}
		must(json.Unmarshal([]byte(textOf(e, "doc")), &doc))
		subject, f := doc.Data.Object.ID, doc.Data.Object.Failure
		if end, ok := reviewEnds[event.Type(doc.Type)]; ok {
			told[end+subject]++
		} else if doc.Type == string(event.ContentPublished) {
			told["published "+subject]++
		} else if f != nil && f.Stage == "publish" && doc.Type == string(event.ContentFailed) {
			told["unpublished "+subject]++
		} else if strings.HasSuffix(doc.Type, ".generated") || strings.HasSuffix(doc.Type, ".failed") {
			told[subject]++
		}
		for _, c := range w.callers {
			if tenant.Account(textOf(e, "acc")) != c.principal.Account || textOf(e, "mode") == string(tenant.Test) {
				continue
			}
			for _, url := range c.urls {
				if w.receipts[receipt{url, textOf(e, "pk")}] == 0 && !w.early(e, c) {
					fail("event %s %s did not reach %s", doc.Type, textOf(e, "pk"), url)
				}
			}
		}
	}
	for id, n := range w.ends {
		if told[id] != n {
			fail("%s ended %d times, and %d events report it", id, n, told[id])
		}
	}
	for id, n := range told {
		if w.ends[id] != n {
			fail("%d events report an end of %s, which ended %d times", n, id, w.ends[id])
		}
	}
	for _, it := range w.items() {
		pk := textOf(it, "pk")
		switch kind := textOf(it, "kind"); kind {
		case "content_item", "generation":
			w.checkFiles(it, fail)
			if state := stateOf(it); state == "queued" || state == "generating" {
				fail("%s is %s", pk, state)
			}
		case advice.DiagnosisItemKind:
			if state := stateOf(it); state != string(advice.Completed) && state != string(advice.Failed) {
				fail("%s is %s", pk, state)
			}
		case task.ItemKind:
			if state := textOf(it, "f_state"); state != "ended" && !w.waits(it) {
				fail("the task %s is %s", pk, state)
			}
		case "delivery":
			if state := textOf(it, "f_state"); state != "delivered" {
				fail("the delivery %s is %s", textOf(it, "sk"), state)
			}
		case ledger.Kind:
			var doc struct {
				Kind      string
				Credits   int64
				FactoryID string `json:"factory_id"`
			}
			must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
			a := accounts[tenant.Account(textOf(it, "acc"))]
			if a.sum += doc.Credits; doc.Kind != "top_up" {
				a.paid -= doc.Credits
			}
			content[doc.FactoryID] -= doc.Credits
			if textOf(it, "x_state") == "held" {
				a.held++
			}
		}
		if of := strings.Split(pk, "#"); of[0] == "spend" {
			accounts[tenant.Account(of[1])].spent += numberOf(it, "n_count")
		}
		for name := range it {
			if strings.HasPrefix(pk, "waiting#") && strings.HasPrefix(name, "n_") && numberOf(it, name) != 0 {
				fail("%s counts %d", pk, numberOf(it, name))
			}
		}
	}
	for _, c := range w.callers {
		it, err := w.db().Get(context.Background(), ledger.BalanceKey(c.principal.Account))
		must(err)
		a, b := accounts[c.principal.Account], ledger.BalanceOf(it)
		if a.sum != b.Credits || a.held != 0 || b.Credits < 0 {
			fail("the balance of %s is %d, its entries add up to %d, and %d are held", c.name, b.Credits, a.sum, a.held)
		}
		if a.paid != a.spent {
			fail("%s has paid %d, and its key counts %d", c.name, a.paid, a.spent)
		}
	}
	broken = append(broken, w.torn...)
	broken = append(broken, w.whole()...)
	broken = append(broken, w.checkAnalytics(content)...)
	w.checkRepeated(fail)
	w.checkApplied(fail)
	w.checkPlans(fail)
	w.checkTrainings(fail)
	w.checkChats(fail)
	w.checkPublications(fail)
	w.checkComments(fail)
	w.checkAccounts(fail)
	w.checkOwn(fail)
	w.checkTeam(fail)
	for token, all := range w.submissions {
		paid := 0
		for _, s := range all {
			if !s.excused() {
				paid++
			}
		}
		if paid > 1 {
			fail("%s was submitted %d times, %d without a reason", token, len(all), paid)
		}
	}
	slices.Sort(broken)
	return broken
}

// whole returns the inconsistencies of the table, with the check that operators use for restored tables.
func (w *world) whole() []string {
	r, err := recovery.Check(context.Background(), w.engine, tableName)
	must(err)
	return r.Broken
}

// checkFiles checks that the files of a resource are stored once each, and that work that failed in its only
// attempt has cost nothing, unless the caller's input or the publication caused the failure.
func (w *world) checkFiles(it attributes, fail func(format string, args ...any)) {
	pk := textOf(it, "pk")
	type cost struct {
		Attempt     int
		CostCredits int64 `json:"cost_credits"`
		Failure     struct{ Stage, Message string }
	}
	var files struct{ Files []media.File }
	must(json.Unmarshal([]byte(textOf(it, "doc")), &files))
	var doc cost
	if textOf(it, "kind") == item.ItemKind {
		var r item.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		doc.Attempt, doc.CostCredits = r.Item.Attempt, r.Item.CostCredits
		if f := r.Item.Failure; f != nil {
			doc.Failure.Stage, doc.Failure.Message = f.Stage, f.Message
		}
	} else {
		must(json.Unmarshal([]byte(textOf(it, "doc")), &doc))
	}
	seen := map[string]bool{}
	for _, f := range files.Files {
		if !w.files[f.Key] || seen[f.Key] {
			fail("%s has the file %s, stored: %v", pk, f.Key, w.files[f.Key])
		}
		seen[f.Key] = true
	}
	ofCaller := doc.Failure.Stage == string(generate.StageCompose) && strings.Contains(doc.Failure.Message,
		fmt.Sprintf("have cost %d credits", doc.CostCredits))
	if stateOf(it) == "failed" && doc.Attempt <= 1 && doc.CostCredits > 0 && !ofCaller &&
		doc.Failure.Stage != "publish" {
		fail("%s failed, and has cost %d: %+v", pk, doc.CostCredits, doc.Failure)
	}
}

// checkAnalytics returns the differences between the analytics and the truth.
func (w *world) checkAnalytics(paid map[string]int64) (broken []string) {
	ended, counted := int64(0), int64(0)
	for id, n := range w.ends {
		if strings.HasPrefix(id, "cnt_") {
			ended += int64(n)
		}
	}
	for _, c := range w.callers {
		for _, factory := range c.factories() {
			r, err := analytics.Verify(context.Background(), w.db(), factory, time.Now())
			if err != nil || r.Pending > 0 {
				broken = append(broken, fmt.Sprintf("the analytics of %s: %+v, %v", c.name, r, err))
			}
			if spent := r.Totals["cost_credits"]; spent != paid[factory] {
				broken = append(broken, fmt.Sprintf("%s has paid %d for its factory %s, and its analytics show %d",
					c.name, paid[factory], factory, spent))
			}
			counted += r.Totals["made"] + r.Totals["failed"]
		}
	}
	if counted != ended {
		broken = append(broken, fmt.Sprintf("attempts at content ended %d times, and analytics show %d",
			ended, counted))
	}
	return broken
}

// early reports whether an event happened before an account had all its webhooks.
func (w *world) early(e attributes, c *caller) bool { return textOf(e, "pk") < c.since }

func numberOf(a attributes, name string) int64 {
	v, _ := a[name].(*types.AttributeValueMemberN)
	if v == nil {
		return 0
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}
