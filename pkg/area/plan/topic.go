package plan

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

type topicBody struct {
	// What the item is about, in up to 400 bytes.
	Topic string `json:"topic" format:"line-not-blank" minLength:"1" maxLength:"400" example:"Why the left shoe wears out first"`
	// Time of its publication, on a day of the plan.
	PublishAt time.Time `json:"publish_at" example:"2026-12-03T17:30:00Z"`
	// Type of the item: one of the plan's. Absent: the first one of the plan.
	ContentType string `json:"content_type,omitempty" enum:"short_video,post,carousel,story,long_video"`
	// View of the topic, in up to 120 bytes.
	Angle string `json:"angle,omitempty" format:"line" maxLength:"120" example:"a mistake that we made"`
	// Idea of its first line, in up to 240 bytes.
	Hook string `json:"hook,omitempty" format:"line" maxLength:"240"`
	// Its pillar.
	Pillar string `json:"pillar,omitempty" format:"line" maxLength:"100"`
	// Active product that it presents, of a factory of type seller.
	ProductID string `json:"product_id,omitempty" maxLength:"64" example:"prd_01h455vb4pex5vsknk084sn02q"`
}

type topicPatch struct {
	// What the item is about, in up to 400 bytes.
	Topic string `json:"topic,omitempty" format:"line-not-blank" minLength:"1" maxLength:"400"`
	// Time of its publication, on a day of the plan.
	PublishAt time.Time `json:"publish_at,omitzero" example:"2026-12-03T17:30:00Z"`
	// Type of the item: one of the plan's. That of an approved topic stays, because its price is reserved.
	ContentType string `json:"content_type,omitempty" enum:"short_video,post,carousel,story,long_video"`
	// View of the topic, in up to 120 bytes. Null: none.
	Angle *string `json:"angle,omitempty" format:"line" maxLength:"120" nullable:"true"`
	// Idea of its first line, in up to 240 bytes. Null: none.
	Hook *string `json:"hook,omitempty" format:"line" maxLength:"240" nullable:"true"`
	// Its pillar. Null: none.
	Pillar *string `json:"pillar,omitempty" format:"line" maxLength:"100" nullable:"true"`
	// Active product that it presents. Null: none.
	ProductID *string `json:"product_id,omitempty" maxLength:"64" nullable:"true"`
}

type (
	topicInput struct {
		topicsPath
		Body topicBody
	}
	topicPath struct {
		topicsPath
		// Number of the topic.
		Number int `path:"topic_number" minimum:"1" maximum:"1000" example:"1"`
	}
	patchTopicInput struct {
		topicPath
		httpapi.IfMatch
		Body topicPatch
	}
	dropTopicInput struct {
		topicPath
		httpapi.IfMatch
	}
)

// registerTopics puts the operations of topics into the router.
func (s *Service) registerTopics(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/content-plan/topics"
	op := func(id, method, path, summary, description string, codes ...errs.Code) httpapi.Op {
		return httpapi.Op{ID: id, Method: method, Path: path, Scope: auth.FactoriesWrite, Function: "factory",
			Tag: "Factories", Summary: summary, Description: description, Errors: codes}
	}
	add := op("createPlanTopic", http.MethodPost, path, "Add a topic to a content plan", "Adds a topic of your own to a "+
		"plan whose items are written later. It waits for an approval, as the others do, and costs nothing until then.",
		errs.InvalidState)
	add.Status = http.StatusCreated
	httpapi.Write(r, add, s.addTopic)
	get := op("getPlanTopic", http.MethodGet, path+"/{topic_number}", "Get a topic of a content plan",
		"Returns one topic, with its version as the ETag. The `calendar` of `GET /v1/factories/{factory_id}/content-plan` "+
			"has all of them.")
	get.Scope = auth.FactoriesRead
	httpapi.Read(r, get, s.getTopic)
	httpapi.Write(r, op("updatePlanTopic", http.MethodPatch, path+"/{topic_number}", "Change a topic of a content plan",
		"Changes what is sent of a topic whose item is not written yet. A topic that is approved stays approved. Send "+
			"`If-Match` with its ETag, so that no change of somebody else is lost.", errs.InvalidState), s.changeTopic)
	httpapi.Write(r, op("deletePlanTopic", http.MethodDelete, path+"/{topic_number}", "Drop a topic of a content plan",
		"Drops a topic whose item is not written yet, and releases what was reserved for it. It counts as canceled. Delete "+
			"the item of a topic that is written.", errs.InvalidState), s.dropTopic)
	approve := op("approvePlanTopics", http.MethodPost, path+"/approve", "Approve topics of a content plan", "Approves the "+
		"topics that are named, or all that wait, and reserves the price of their items: all or none. The items are "+
		"written `write_ahead_hours` before their times. Topics that are approved already stay so, at no further cost. A "+
		"topic that nobody approves before its time is `missed`.",
		errs.InvalidState, errs.InsufficientBalance, errs.SpendLimitReached)
	approve.Status = http.StatusAccepted
	httpapi.Write(r, approve, s.approve)
}

func (s *Service) getTopic(ctx context.Context, in *topicPath) (out Topic, err error) {
	d, err := s.desk(ctx, in.topicsPath)
	if err != nil {
		return out, err
	}
	t, _, err := d.topic(in.Number)
	if err != nil {
		return out, err
	}
	return t.shown(d.plan.ID), nil
}

// edit is what a caller sets of a topic.
type edit struct {
	Topic       string    `json:"topic"`
	PublishAt   time.Time `json:"publish_at"`
	ContentType string    `json:"content_type"`
	Angle       string    `json:"angle"`
	Hook        string    `json:"hook"`
	Pillar      string    `json:"pillar"`
	ProductID   string    `json:"product_id"`
}

// apply checks an edit, and takes it over. was is the topic before, or the zero value.
func (d *desk) apply(e edit, t *chosen, o tenant.Owner, product store.Item, now time.Time) error {
	var found []error
	for param, text := range map[string]struct {
		value string
		most  int
	}{"/topic": {e.Topic, MaxTopic}, "/angle": {e.Angle, maxAngle}, "/hook": {e.Hook, maxHook}} {
		if len(text.value) > text.most {
			found = append(found, errs.Invalid(param, "has %d bytes, and may have %d", len(text.value), text.most))
		}
	}
	if d.recipe.Items[e.ContentType] == nil {
		found = append(found, errs.Invalid("/content_type", "is not among the content_types of the plan"))
	} else if t.State == TopicApproved && e.ContentType != t.Type {
		found = append(found, errs.Invalid("/content_type", "cannot be changed, because the price of its item is "+
			"reserved. Drop the topic, and add another one"))
	}
	if !e.PublishAt.Equal(t.At) {
		found = append(found, d.checkTime(e.PublishAt, now))
	}
	if e.ProductID != t.Product && e.ProductID != "" && !d.offered(product, o, e.ProductID) {
		found = append(found, errs.Invalid("/product_id", "is not the id of an active product of the factory"))
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	place, err := d.on(e.PublishAt)
	if err != nil {
		return err
	}
	if t.Slot != nil {
		goal, campaign := t.Slot.Goal, t.Slot.Campaign
		if e.PublishAt.Equal(t.At) {
			place = *t.Slot
		}
		place.Goal, place.Campaign = goal, campaign
	}
	place.Angle, place.Hook, place.Pillar = clean(e.Angle), clean(e.Hook), e.Pillar
	t.Topic, t.At, t.Type, t.Slot, t.Product = clean(e.Topic), e.PublishAt.UTC(), e.ContentType, &place, e.ProductID
	t.Version++
	return nil
}

// offered reports whether a product, whose item was read, can be presented.
func (d *desk) offered(it store.Item, o tenant.Owner, productID string) bool {
	return d.recipe.Sells && it.PK == productID && product.Offered(it, o, d.plan.FactoryID)
}

// checkTime refuses times that are past, or on no day of the plan.
func (d *desk) checkTime(at, now time.Time) error {
	zone, err := time.LoadLocation(d.plan.Timezone)
	if err != nil {
		return err
	}
	booked, err := d.plan.Booked()
	if err != nil {
		return err
	}
	day := at.In(zone).Format(time.DateOnly)
	switch {
	case !at.After(now):
		return errs.Invalid("/publish_at", "is in the past")
	case day < booked.First || day > booked.Last:
		return errs.Invalid("/publish_at", "is not on a day of the plan, which has those from %s to %s", booked.First,
			booked.Last)
	}
	return nil
}

// productKeys returns the key of a product that a body names.
func productKeys(productID *string) []store.Key {
	if productID == nil || !id.Valid(id.Product, *productID) {
		return nil
	}
	return []store.Key{store.IDKey(*productID)}
}

// first returns the first of the items that were read beside the plan, or none.
func (d *desk) first() (it store.Item) {
	if len(d.beside) > 0 {
		it = d.beside[0]
	}
	return it
}

func (s *Service) addTopic(ctx context.Context, tx *store.Tx, in *topicInput) (out Topic, err error) {
	d, err := s.desk(ctx, in.topicsPath, productKeys(&in.Body.ProductID)...)
	if err != nil {
		return out, err
	}
	if err := d.open(); err != nil {
		return out, err
	}
	if d.plan.Items.Total >= mostTopics {
		return out, errs.New(errs.InvalidState, "The content plan %s has %d topics, and can have no more. Plan other days.",
			d.plan.ID, mostTopics).With(errs.StateContext{State: string(d.plan.State), Allowed: []string{"approve", "drop"}})
	}
	b, now := in.Body, s.now()
	if b.ContentType == "" {
		b.ContentType = d.plan.ContentTypes[0]
	}
	t := chosen{Number: int(d.plan.Items.Total) + 1, State: TopicProposed}
	if err := d.apply(edit{b.Topic, b.PublishAt, b.ContentType, b.Angle, b.Hook, b.Pillar, b.ProductID}, &t,
		d.stored.Owner, d.first(), now); err != nil {
		return out, err
	}
	n, _ := chunkOf(t.Number)
	d.chunks[n-1].Items = append(d.chunks[n-1].Items, t)
	d.changed = map[int]bool{n - 1: true}
	d.plan.Items.Total++
	d.plan.CostEstimate += d.recipe.Prices[t.Type]
	return t.shown(d.plan.ID), d.save(tx, now, d.stored.Owner, factoryrecord.Counts{})
}

// changeable returns a topic whose item is not written yet, and its chunk.
func (d *desk) changeable(number int, match httpapi.IfMatch) (t *chosen, n int, err error) {
	if t, n, err = d.topic(number); err != nil {
		return nil, n, err
	}
	if err := httpapi.Matches(t.Version, []httpapi.IfMatch{match}); err != nil {
		return nil, n, err
	}
	if err := d.open(); err != nil {
		return nil, n, err
	}
	if !t.State.open() {
		return nil, n, errs.New(errs.InvalidState, "The topic %d of the content plan %s is %s. Only topics that are proposed "+
			"or approved can be changed.", number, d.plan.ID, t.State).
			With(errs.StateContext{State: string(t.State), Allowed: []string{"get"}})
	}
	return t, n, nil
}

func (s *Service) changeTopic(ctx context.Context, tx *store.Tx, in *patchTopicInput) (out Topic, err error) {
	d, err := s.desk(ctx, in.topicsPath, productKeys(in.Body.ProductID)...)
	if err != nil {
		return out, err
	}
	t, n, err := d.changeable(in.Number, in.IfMatch)
	if err != nil {
		return out, err
	}
	e, err := httpapi.MergePatch(ctx, edit{t.Topic, t.At, t.Type, t.Slot.Angle, t.Slot.Hook, t.Slot.Pillar, t.Product})
	if err != nil {
		return out, err
	}
	now, before := s.now(), t.Type
	if err := d.apply(e, t, d.stored.Owner, d.first(), now); err != nil {
		return out, err
	}
	d.changed[n] = true
	d.plan.CostEstimate += d.recipe.Prices[t.Type] - d.recipe.Prices[before]
	return t.shown(d.plan.ID), d.save(tx, now, d.stored.Owner, factoryrecord.Counts{})
}

func (s *Service) dropTopic(ctx context.Context, tx *store.Tx, in *dropTopicInput) (out Topic, err error) {
	d, err := s.desk(ctx, in.topicsPath)
	if err != nil {
		return out, err
	}
	t, n, err := d.changeable(in.Number, in.IfMatch)
	if err != nil {
		return out, err
	}
	now, c := s.now(), factoryrecord.Counts{Canceled: 1}
	if t.State == TopicApproved {
		if t.Hold == 0 && d.recipe.Items[t.Type].Credits > 0 {
			return out, errs.New(errs.InvalidState, "The topics of the content plan %s were not to be approved: its whole price "+
				"is reserved. Drop the item once it is written, or replace the plan.", d.plan.ID).
				With(errs.StateContext{State: string(t.State), Allowed: []string{"update"}})
		}
		if t.Hold > 0 && d.recipe.Holds[t.Hold-1].Credits > 0 {
			freed := d.recipe.Items[t.Type].Credits
			rest, _, err := ledger.Split(tx, now, d.stored.Owner.Account, d.recipe.Holds[t.Hold-1],
				[]ledger.Part{{Subject: d.plan.ID, Credits: freed, Free: true}})
			if err != nil {
				return out, err
			}
			d.recipe.Holds[t.Hold-1], d.repriced, c.Reserved = rest, true, -freed
		}
	}
	t.State = TopicDropped
	t.Version++
	d.changed[n] = true
	d.plan.CostEstimate -= d.recipe.Prices[t.Type]
	return t.shown(d.plan.ID), d.save(tx, now, d.stored.Owner, c)
}

type approveBody struct {
	// Numbers of the topics. Absent: all that wait.
	Numbers []int `json:"numbers,omitempty" minItems:"1" maxItems:"1000" uniqueItems:"true" nullable:"false"`
}

type approveInput struct {
	topicsPath
	Body approveBody
}

// mostHolds is the number of reservations that a plan has at most at a time.
const mostHolds = 100

func (s *Service) approve(ctx context.Context, tx *store.Tx, in *approveInput) (out Plan, err error) {
	p, now := auth.FromContext(ctx), s.now()
	d, err := s.desk(ctx, in.topicsPath, ledger.FundsKeys(p.Account, now)...)
	if err != nil {
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
	for _, t := range approved {
		t.State, t.Hold = TopicApproved, number
		t.Version++
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
		credits += d.recipe.Items[t.Type].Credits
	}
	for i, number := range numbers {
		at := "/numbers/" + strconv.Itoa(i)
		t, n, err := d.topic(number)
		switch {
		case err != nil:
			found = append(found, errs.Invalid(at, "is not the number of a topic of the plan"))
		case t.State == TopicProposed && !t.At.After(now):
			found = append(found, errs.Invalid(at, "is that of a topic whose time is past. Change its publish_at first"))
		case t.State == TopicProposed:
			take(t, n)
		case t.State != TopicApproved && t.State != TopicWritten:
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
			With(errs.StateContext{State: string(d.plan.State), Allowed: []string{"add", "replace"}})
	}
	return credits, approved, nil
}

// reserve adds a reservation of the plan to the transaction, and returns its number. The number is 0 if there is nothing
// to reserve.
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
		return 0, errs.New(errs.InvalidState, "Topics of the content plan %s were approved in %d calls whose items are not "+
			"written yet. Approve more topics in one call, or wait.", d.plan.ID, open).
			With(errs.StateContext{State: string(d.plan.State), Allowed: []string{"get"}})
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
