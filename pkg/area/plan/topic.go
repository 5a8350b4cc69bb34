package plan

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

type topicBody struct {
	// What the item is about, in up to 400 bytes.
	Topic string `json:"topic" format:"topic"`
	// Time of its publication, on a day of the plan.
	PublishAt time.Time `json:"publish_at" example:"2026-12-03T17:30:00Z"`
	// Type of the item: one of the plan's. Absent: the first one of the plan.
	ContentType string `json:"content_type,omitempty" format:"plan-content"`
	// Angle from which the item presents its topic, at most 120 bytes.
	Angle string `json:"angle,omitempty" format:"line" maxLength:"120" example:"a mistake that we made"`
	// Idea of its first line, in up to 240 bytes.
	Hook string `json:"hook,omitempty" format:"line" maxLength:"240"`
	// Recurring subject that it belongs to, such as one of the pillars.
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
	ContentType string `json:"content_type,omitempty" format:"plan-content"`
	// Angle from which the item presents its topic, at most 120 bytes. Null: none.
	Angle *string `json:"angle,omitempty" format:"line" maxLength:"120" nullable:"true"`
	// Idea of its first line, in up to 240 bytes. Null: none.
	Hook *string `json:"hook,omitempty" format:"line" maxLength:"240" nullable:"true"`
	// Recurring subject that it belongs to. Null: none.
	Pillar *string `json:"pillar,omitempty" format:"line" maxLength:"100" nullable:"true"`
	// Active product of the factory that it presents. Null: none.
	ProductID *string `json:"product_id,omitempty" maxLength:"64" nullable:"true"`
}

type (
	topicInput struct {
		TopicsPath
		Body topicBody
	}
	// TopicPath names the topic of a plan that a call is about.
	TopicPath struct {
		TopicsPath
		// Number of the topic in its plan.
		Number int `path:"topic_number" minimum:"1" example:"1"`
	}
	patchTopicInput struct {
		TopicPath
		httpapi.IfMatch
		Body topicPatch
	}
	dropTopicInput struct {
		TopicPath
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
	add := op("createPlanTopic", http.MethodPost, path, "Add a topic to a content plan", "Adds a topic of your own "+
		"to a plan whose items are written later. It waits for an approval, as the others do, and costs nothing "+
		"until then.",
		errs.InvalidState).Opening(httpapi.Spending | httpapi.Publishing)
	add.Status = http.StatusCreated
	httpapi.Write(r, add, s.addTopic)
	get := op("getPlanTopic", http.MethodGet, path+"/{topic_number}", "Get a topic of a content plan",
		"Returns one topic, with its version as the ETag. The `calendar` of `GET "+
			"/v1/factories/{factory_id}/content-plan` has all of them.").Opening(httpapi.Nothing)
	get.Scope = auth.FactoriesRead
	httpapi.Read(r, get, s.getTopic)
	httpapi.Write(r, op("updatePlanTopic", http.MethodPatch, path+"/{topic_number}", "Change a topic of a content plan",
		"Changes what is sent of a topic whose item is not written yet. A topic that is approved stays approved. Send "+
			"`If-Match` with its ETag, so that no change of somebody else is lost.", errs.InvalidState,
		errs.VersionMismatch).Opening(httpapi.Spending|httpapi.Publishing), s.changeTopic)
	httpapi.Write(r, op("deletePlanTopic", http.MethodDelete, path+"/{topic_number}", "Drop a topic of a content plan",
		"Drops a topic whose item is not written yet, and releases what was reserved for it. It counts as canceled. "+
			"Delete the item of a topic that is written.", errs.InvalidState, errs.VersionMismatch).
		Opening(httpapi.Deletion), s.dropTopic)
	approve := op("approvePlanTopics", http.MethodPost, path+"/approve", "Approve topics of a content plan",
		"Approves the topics in `numbers`, or all proposed topics, and reserves the price of their "+
			"items. Either all of them are approved, or none. Each item is written "+
			"`write_ahead_hours` before its time. A topic that is already approved costs nothing more. A "+
			"topic that nobody approves before its time becomes `expired`. `If-Match` takes the ETag of the plan.",
		errs.InvalidState, errs.InsufficientBalance, errs.SpendLimitReached, errs.VersionMismatch).
		Opening(httpapi.Spending | httpapi.Publishing)
	approve.Status = http.StatusAccepted
	httpapi.Write(r, approve, s.approve)
}

func (s *Service) getTopic(ctx context.Context, in *TopicPath) (out Topic, err error) {
	d, err := s.desk(ctx, in.TopicsPath)
	if err != nil {
		return out, err
	}
	t, _, err := d.topic(in.Number)
	if err != nil {
		return out, err
	}
	return t.shown(d.plan.ID), nil
}

// edit has the members of a topic that a caller sets.
type edit struct {
	Topic       string    `json:"topic"`
	PublishAt   time.Time `json:"publish_at"`
	ContentType string    `json:"content_type"`
	Angle       string    `json:"angle"`
	Hook        string    `json:"hook"`
	Pillar      string    `json:"pillar"`
	ProductID   string    `json:"product_id"`
}

// apply checks an edit of a topic, which is the zero value if it is new, and takes it over.
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
		found = append(found, d.checkTime(e.PublishAt, d.clock))
	}
	switch {
	case e.ProductID == t.Product || e.ProductID == "":
	case !d.recipe.Sells:
		found = append(found, errs.Invalid("/product_id", "is for plans of factories of the type seller. Leave it out"))
	default:
		found = append(found, checkProduct("/product_id", e.ProductID, product, o, d.plan.FactoryID))
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
	t.touch(now)
	return nil
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
	d, err := s.desk(ctx, in.TopicsPath, productKeys(&in.Body.ProductID)...)
	if err != nil {
		return out, err
	}
	if err := d.open(); err != nil {
		return out, err
	}
	if d.plan.Items.Total >= mostTopics {
		return out, errs.New(errs.InvalidState, "The content plan %s has %d topics, and can have no more. Plan other "+
			"days.",
			d.plan.ID, mostTopics).In(string(d.plan.State), "approve", "drop")
	}
	b, now := in.Body, s.now()
	if b.ContentType == "" {
		b.ContentType = d.plan.ContentTypes[0]
	}
	t := chosen{Number: int(d.plan.Items.Total) + 1, State: TopicProposed, Created: now,
		By: authority.Of(auth.FromContext(ctx), auth.ContentPublish)}
	if err := d.apply(edit(b), &t, d.stored.Owner, d.first(), now); err != nil {
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
		return nil, n, errs.New(errs.InvalidState, "The topic %d of the content plan %s is %s. Only topics that are "+
			"proposed or approved can be changed.", number, d.plan.ID, t.State).In(string(t.State), "get")
	}
	return t, n, nil
}

func (s *Service) changeTopic(ctx context.Context, tx *store.Tx, in *patchTopicInput) (out Topic, err error) {
	d, err := s.desk(ctx, in.TopicsPath, productKeys(in.Body.ProductID)...)
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
	d.changed[n], t.By = true, authority.Of(auth.FromContext(ctx), auth.ContentPublish)
	d.plan.CostEstimate += d.recipe.Prices[t.Type] - d.recipe.Prices[before]
	return t.shown(d.plan.ID), d.save(tx, now, d.stored.Owner, factoryrecord.Counts{})
}

func (s *Service) dropTopic(ctx context.Context, tx *store.Tx, in *dropTopicInput) (out Topic, err error) {
	d, err := s.desk(ctx, in.TopicsPath)
	if err != nil {
		return out, err
	}
	t, n, err := d.changeable(in.Number, in.IfMatch)
	if err != nil {
		return out, err
	}
	now, c := s.now(), factoryrecord.Counts{Canceled: 1}
	if t.State == TopicApproved {
		if t.Hold == 0 && d.recipe.reserved(t.Type) > 0 {
			return out, errs.New(errs.InvalidState, "The topics of the content plan %s were not to be approved: its "+
				"whole price is reserved. Drop the item once it is written, or replace the plan.", d.plan.ID).
				In(string(t.State), "update")
		}
		if t.Hold > 0 && d.recipe.Holds[t.Hold-1].Credits > 0 {
			freed := d.recipe.reserved(t.Type)
			rest, _, err := ledger.Split(tx, now, d.stored.Owner.Account, d.recipe.Holds[t.Hold-1],
				[]ledger.Part{{Subject: d.plan.ID, Credits: freed, Free: true}})
			if err != nil {
				return out, err
			}
			d.recipe.Holds[t.Hold-1], d.repriced, c.Reserved = rest, true, -freed
		}
	}
	t.enter(TopicDiscarded, now)
	d.changed[n] = true
	d.plan.CostEstimate -= d.recipe.Prices[t.Type]
	return t.shown(d.plan.ID), d.save(tx, now, d.stored.Owner, c)
}
