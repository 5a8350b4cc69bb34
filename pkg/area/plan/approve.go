package plan

import (
	"context"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

type approveBody struct {
	// Numbers of the topics. Absent: all that wait.
	Numbers []int `json:"numbers,omitempty" minItems:"1" maxItems:"1000" uniqueItems:"true" nullable:"false"`
}

type approveInput struct {
	TopicsPath
	httpapi.IfMatch
	Body approveBody
}

// mostHolds is the number of reservations that a plan has at most at a time.
const mostHolds = 100

func (s *Service) approve(ctx context.Context, tx *store.Tx, in *approveInput) (out Plan, err error) {
	p, now := auth.FromContext(ctx), s.now()
	d, err := s.desk(ctx, in.TopicsPath, ledger.FundsKeys(p.Account, now)...)
	if err != nil {
		return out, err
	}
	if err := in.Check(d.plan.Version); err != nil {
		return out, err
	}
	if err := d.open(); err != nil {
		return out, err
	}
	credits, approved, err := d.pick(in.Body.Numbers, now)
	if err != nil {
		return out, err
	}
	number, err := d.reserve(tx, now, credits, ledger.PayerOf(now, p))
	if err != nil {
		return out, err
	}
	if d.plan.QuoteID != "" && credits > 0 {
		it, err := s.db.Get(ctx, quote.Key(string(d.plan.QuoteID)))
		if err != nil {
			return out, err
		}
		if err := quote.Spend(tx, now, it, credits); err != nil {
			return out, err
		}
	}
	for _, t := range approved {
		t.Hold, t.By = number, authority.Of(p, auth.ContentPublish)
		t.enter(TopicApproved, now)
	}
	if err := d.save(tx, now, d.stored.Owner, factoryrecord.Counts{Reserved: credits}); err != nil {
		return out, err
	}
	out = d.plan
	out.ReservedCredits += credits
	for _, c := range d.chunks {
		for _, one := range c.Items {
			out.Calendar = append(out.Calendar, one.shown(out.ID))
		}
	}
	return out, nil
}

// pick returns the topics that a call approves, and the price of their items. It refuses numbers of topics that do
// not wait, but for those that were approved before.
func (d *desk) pick(numbers []int, now time.Time) (credits int64, approved []*chosen, err error) {
	var found []error
	take := func(t *chosen, n int) {
		approved, d.changed[n] = append(approved, t), true
		credits += d.recipe.reserved(t.Type)
	}
	for i, number := range numbers {
		at := "/numbers/" + strconv.Itoa(i)
		t, n, err := d.topic(number)
		switch {
		case err != nil:
			found = append(found, errs.Invalid(at, "is not the number of a topic of the plan"))
		case t.State == TopicProposed && !t.At.After(now):
			found = append(found, errs.Invalid(at, "is that of a topic whose time is past. Change its publish_at "+
				"first"))
		case t.State == TopicProposed:
			take(t, n)
		case t.State != TopicApproved && t.State != TopicCompleted:
			found = append(found, errs.Invalid(at, "is that of a topic that is %s", t.State))
		}
	}
	for n := range d.chunks {
		for i := range d.chunks[n].Items {
			if t := &d.chunks[n].Items[i]; numbers == nil && t.State == TopicProposed && t.At.After(now) {
				take(t, n)
			}
		}
	}
	if err := errs.All(found...); err != nil {
		return 0, nil, err
	}
	if numbers == nil && len(approved) == 0 {
		return 0, nil, errs.New(errs.InvalidState, "No topic of the content plan %s waits for an approval.", d.plan.ID).
			In(string(d.plan.State), "add", "replace")
	}
	return credits, approved, nil
}

// reserve adds a reservation of the plan to the transaction, and returns its number. The number is 0 if there is
// nothing to reserve.
func (d *desk) reserve(tx *store.Tx, now time.Time, credits int64, payer ledger.Payer) (number int, err error) {
	if credits == 0 {
		return 0, nil
	}
	o, open := d.stored.Owner, 0
	for i, h := range d.recipe.Holds {
		if h.Credits > 0 {
			open++
		} else if number == 0 {
			number = i + 1
		}
	}
	if open >= mostHolds {
		return 0, errs.New(errs.InvalidState, "Topics of the content plan %s were approved in %d calls whose items "+
			"are not written yet. Approve more topics in one call, or wait.", d.plan.ID, open).
			In(string(d.plan.State), "get")
	}
	hold, err := ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: d.plan.ID,
		About: d.plan.about(), Credits: credits, Payer: payer}, ledger.FundsOf(d.beside))
	if err != nil {
		return 0, err
	}
	if d.repriced = true; number == 0 {
		d.recipe.Holds = append(d.recipe.Holds, hold)
		return len(d.recipe.Holds), nil
	}
	d.recipe.Holds[number-1] = hold
	return number, nil
}
