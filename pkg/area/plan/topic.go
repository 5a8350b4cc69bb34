package plan

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/area/factory"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
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
	// What the item is about, in up to 400 bytes. Null: another topic is written, at no cost; it is empty until then,
	// and waits for an approval again.
	Topic *string `json:"topic,omitempty" format:"line-not-blank" minLength:"1" maxLength:"400" nullable:"true"`
	// With topic null: what was wrong with the last one, for the model.
	Reason string `json:"reason,omitempty" format:"line" maxLength:"300" example:"we do not sell to companies"`
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
		// Why it is dropped, for the model, which avoids what dropped topics have in common. Absent: no reason.
		Reason string `query:"reason" maxLength:"300" example:"we have written about that"`
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
		"Approves the topics in `numbers`, those of the days `from` to `to`, or all proposed topics, and reserves "+
			"the price of their "+
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
	Reason      string    `json:"reason,omitempty"`
}

// apply checks an edit of a topic, which is the zero value if it is new, and takes it over.
func (d *desk) apply(e edit, t *topicItem, o tenant.Owner, product store.Item, now time.Time) error {
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
	t := topicItem{Number: int(d.plan.Items.Total) + 1, State: TopicProposed, CreatedAt: now,
		By: authority.Of(auth.FromContext(ctx), auth.ContentPublish)}
	if err := d.apply(edit{Topic: b.Topic, PublishAt: b.PublishAt, ContentType: b.ContentType, Angle: b.Angle,
		Hook: b.Hook, Pillar: b.Pillar, ProductID: b.ProductID}, &t, d.storedPlan.Owner, d.first(), now); err != nil {
		return out, err
	}
	n, _ := chunkOf(t.Number)
	d.chunks[n-1].Items = append(d.chunks[n-1].Items, t)
	d.changedTopics = map[int]bool{n - 1: true}
	d.plan.Items.Total++
	d.plan.CostEstimate += d.recipe.Prices[t.Type]
	return t.shown(d.plan.ID), d.save(tx, now, d.storedPlan.Owner, factoryrecord.Counts{})
}

// changeable returns a topic whose item is not written yet, and its chunk.
func (d *desk) changeable(number int, match httpapi.IfMatch) (t *topicItem, n int, err error) {
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
	e, err := httpapi.MergePatch(ctx, edit{Topic: t.Topic, PublishAt: t.At, ContentType: t.Type, Angle: t.Slot.Angle,
		Hook: t.Slot.Hook, Pillar: t.Slot.Pillar, ProductID: t.Product})
	if err != nil {
		return out, err
	}
	now, before := s.now(), t.Type
	if e.Topic == "" && t.Topic != "" {
		e.Topic = t.Topic
		return s.another(ctx, tx, d, t, n, e)
	}
	if e.Reason != "" {
		return out, errs.Invalid("/reason", "is for topic null, which asks for another topic")
	}
	t.Again = t.Again && e.Topic == ""
	if err := d.apply(e, t, d.storedPlan.Owner, d.first(), now); err != nil {
		return out, err
	}
	d.changedTopics[n], t.By = true, authority.Of(auth.FromContext(ctx), auth.ContentPublish)
	d.plan.CostEstimate += d.recipe.Prices[t.Type] - d.recipe.Prices[before]
	return t.shown(d.plan.ID), d.save(tx, now, d.storedPlan.Owner, factoryrecord.Counts{})
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
	if c.Reserved, err = d.free(tx, t, now); err != nil {
		return out, err
	}
	t.Reason = clean(in.Reason)
	t.enter(TopicDiscarded, now)
	d.changedTopics[n] = true
	d.plan.CostEstimate -= d.recipe.Prices[t.Type]
	return t.shown(d.plan.ID), d.save(tx, now, d.storedPlan.Owner, c)
}

// free releases what is reserved for an approved topic, and returns the change of the reservation.
func (d *desk) free(tx *store.Tx, t *topicItem, now time.Time) (int64, error) {
	if t.State != TopicApproved {
		return 0, nil
	}
	if t.Hold == 0 && d.recipe.reserved(t.Type) > 0 {
		return 0, errs.New(errs.InvalidState, "The topics of the content plan %s were not to be approved: its "+
			"whole price is reserved. Drop the item once it is written, or replace the plan.", d.plan.ID).
			In(string(t.State), "update")
	}
	if t.Hold == 0 || d.recipe.Reservations[t.Hold-1].Credits == 0 {
		return 0, nil
	}
	freed := d.recipe.reserved(t.Type)
	rest, _, err := ledger.Split(tx, now, d.storedPlan.Owner.Account, d.recipe.Reservations[t.Hold-1],
		[]ledger.Part{{Subject: d.plan.ID, Credits: freed, Free: true}})
	if err != nil {
		return 0, err
	}
	d.recipe.Reservations[t.Hold-1], d.repriced = rest, true
	return -freed, nil
}

// another has the task of the plan write another topic for a slot. A topic that was approved waits for an approval
// again, as nobody has read the new one, and what was reserved for it is released.
func (s *Service) another(ctx context.Context, tx *store.Tx, d desk, t *topicItem, n int, e edit) (
	out Topic, err error) {
	now, counts := s.now(), factoryrecord.Counts{}
	if d.plan.fromFeeds(&d.recipe) {
		return out, errs.New(errs.InvalidState, "The topics of the content plan %s come from its feeds, at their "+
			"hours. Send a topic of your own, or drop the slot.", d.plan.ID).In(string(t.State), "update")
	}
	if err := d.apply(e, t, d.storedPlan.Owner, d.first(), now); err != nil {
		return out, err
	}
	if d.plan.Approve == ApproveTopics {
		if counts.Reserved, err = d.free(tx, t, now); err != nil {
			return out, err
		}
		t.State, t.Hold = TopicProposed, 0
	}
	if t.Topic != "" {
		t.Refused = append(t.Refused[max(0, len(t.Refused)+1-mostAgain):],
			prompt.Dropped{Topic: t.Topic, Reason: clean(e.Reason)})
	}
	t.Topic, t.Slot.Angle, t.Slot.Hook, t.Again, t.Tries = "", "", "", true, 0
	t.By = authority.Of(auth.FromContext(ctx), auth.ContentPublish)
	d.changedTopics[n] = true
	return t.shown(d.plan.ID), d.save(tx, now, d.storedPlan.Owner, counts)
}

// mostAgain is the number of its former topics that a slot remembers.
const mostAgain = 10

const (
	// The tokens of an answer: of each topic, and of the rest.
	tokensPerTopic, tokensBase = 280, 200
	// maxAvoided is the number of topics in the prompt that the model must avoid, each in at most
	// maxShown bytes. All of them count when its topics are compared.
	maxAvoided, maxShown = 400, 120
)

// topic is the model's answer for a slot.
type topic struct {
	Slot  int    `json:"slot"`
	Topic string `json:"topic"`
	view
}

// view is the point of view of a topic, with the first line of its text.
type view struct {
	Angle string `json:"angle,omitempty"`
	Hook  string `json:"hook,omitempty"`
}

type topics struct {
	Topics []topic `json:"topics"`
}

// opening is a slot for which a topic is to be chosen.
type opening struct {
	// number is the place in the plan, from 0.
	number      int
	contentType string
	at          time.Time
	place       prompt.Plan
	// about is what its campaign is about, and wanted is why its last topic was not wanted.
	about, wanted string
	product       *record.StoredProduct
}

// openings returns the slots of the next chunk, or those whose topics are written again.
func (j *job) openings() (all []opening) {
	if j.again != nil {
		return j.again
	}
	from, to := j.chunk()
	for n := from; n < to; n++ {
		all = append(all, j.openingOf(n))
	}
	return all
}

// openingOf returns a slot of the plan by its number, from 0.
func (j *job) openingOf(n int) opening {
	o := opening{number: n, contentType: j.slots[n].Type, at: j.slots[n].At, product: j.productOf(n)}
	if n < len(j.places) {
		o.place, o.about = j.places[n].Plan, j.places[n].about
	}
	return o
}

// question asks for topics of the openings that have none yet. Wide has what the model knows beside them.
func (j *job) question(wide prompt.Planning, used []string) ask.Question {
	a := wide
	a.Language, a.Brief = j.recipe.Language, string(j.plan.Brief)
	for _, r := range j.recipe.Items {
		a.Channel = r.Brief.Voice // the same for all
	}
	var sample topics
	var taken knownTopics
	for _, topic := range slices.Concat(used, j.RefusedTopics, slices.Collect(maps.Values(j.Topics))) {
		taken = append(taken, shapeOf(topic))
	}
	for i, o := range j.openings() {
		if n := i + 1; j.Topics[n] == "" {
			one := prompt.OpenSlot{Slot: n, Type: o.contentType, Day: o.place.Day, Season: o.place.Season,
				Occasion: o.place.Occasion, Pillar: o.place.Pillar, Goal: o.place.Goal, Campaign: o.place.Campaign,
				About: o.about, Event: o.place.Event, Offer: o.place.Offer, Wanted: o.wanted}
			if o.product != nil {
				one.Product = o.product.Name
			}
			a.Slots = append(a.Slots, one)
			written, told := j.sample(o, taken)
			sample.Topics = append(sample.Topics, topic{n, written, told})
			taken = append(taken, shapeOf(written))
		}
	}
	chosen := make([]string, 0, len(j.Topics))
	for _, n := range slices.Sorted(maps.Keys(j.Topics)) {
		chosen = append(chosen, j.Topics[n])
	}
	for _, avoid := range slices.Concat(j.RefusedTopics, chosen, used) {
		if len(a.Avoid) < maxAvoided {
			a.Avoid = append(a.Avoid, clip(avoid, maxShown))
		}
	}
	return ask.Question{Model: j.recipe.Model, Prompt: a.Prompt(), Language: j.recipe.Language,
		Tokens: tokensBase + len(a.Slots)*tokensPerTopic, Sample: sample}
}

// parse reads the topics of an answer. Empty ones are left out.
func parse(answer json.RawMessage) ([]topic, error) {
	var t topics
	if err := json.Unmarshal(answer, &t); err != nil {
		return nil, err
	}
	if len(t.Topics) == 0 {
		return nil, fmt.Errorf("plan: there are no topics")
	}
	for i := range t.Topics {
		one := &t.Topics[i]
		one.Topic = clean(one.Topic)
		one.Angle, one.Hook = clip(clean(one.Angle), maxAngle), clip(clean(one.Hook), maxHook)
	}
	return slices.DeleteFunc(t.Topics, func(t topic) bool { return t.Topic == "" }), nil
}

// clean returns a topic on one line, without control characters, and not too long.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), MaxTopic)
}

// clip shortens a text to at most n bytes, at the end of a word if it can.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = text.ClipText(s, n)
	if end := strings.LastIndexFunc(s, unicode.IsSpace); end > n/2 {
		s = s[:end]
	}
	return strings.TrimSpace(s)
}

// nearDuplicate is the similarity from which on two topics count as the same.
const nearDuplicate = 0.55

// gram is the number of characters of a word that are compared together. Scripts that put
// no spaces between words say more with each character.
const (
	gram      = 3
	gramDense = 2
)

// dense are the scripts without spaces between words.
var dense = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}

// shape is the set of short pieces of words by which topics are compared. The order of the
// words, their case, accents' encoding, punctuation and spaces do not count.
type shape map[string]bool

func shapeOf(topic string) shape {
	s := shape{}
	words := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(topic)), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
	for _, word := range words {
		runes, n := []rune(word), gram
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, dense...) }) {
			n = gramDense
		} else {
			runes = []rune(" " + word + " ")
		}
		for i := 0; i+n <= len(runes); i++ {
			s[string(runes[i:i+n])] = true
		}
		if len(runes) < n {
			s[word] = true
		}
	}
	return s
}

// similarity is the Jaccard index of two shapes: the share of their pieces that both have, from 0 to 1.
func similarity(a, b shape) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < nearDuplicate*float64(len(b)) {
		return 0 // not worth a closer look
	}
	common := 0
	for piece := range a {
		if b[piece] {
			common++
		}
	}
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}

// knownTopics are the topics that a new one must differ from.
type knownTopics []shape

// has reports whether a topic is nearly one of them, or says nothing at all.
func (k knownTopics) has(s shape) bool {
	return len(s) == 0 ||
		slices.ContainsFunc(k, func(other shape) bool { return similarity(s, other) >= nearDuplicate })
}

// words are the words of topics in the sandbox once all others are taken.
//
//go:embed words.txt
var words string

const (
	sampleSubject = 32 // characters
	// The topics that are considered for a slot, of which there are fewer once sampleMany are taken: each is compared
	// with all of them.
	sampleTries, sampleMany, sampleManyTries = 40, 300, 4
	sampleWords                              = 6
)

// The angles and twists of the samples, by their number, that fit news, and the angles that fit things alone.
var (
	newsAngles, newsTwists = []int{1, 2, 7, 18, 28, 11}, []int{2, 3, 5, 14, 8}
	thingAngles            = []int{10, 15, 16, 22, 23, 24, 29}
)

// sample is the topic that the sandbox writes for a slot, and how it is told: always the same for the same day, slot,
// round and topics that are taken. It names the product, the pillar or a subject of the slot, an angle and a twist.
// Plans of hundreds of items have not enough of them: then it lists words.
func (j *job) sample(o opening, taken knownTopics) (topic string, told view) {
	n := o.number
	subject, thing := j.subject(o)
	var texts samples.Texts
	texts.Angles, texts.Twists = samples.TopicsOf(j.recipe.Language)
	angles, twists := j.fitting(texts, thing)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", o.at.UTC().Format(time.RFC3339), n, j.Round))
	start := int(binary.BigEndian.Uint32(sum[:]))
	tries := sampleTries
	if len(taken) > sampleMany {
		tries = sampleManyTries
	}
	hooks := samples.LinesOf(j.recipe.Language).Hooks
	hook := hooks[n%len(hooks)]
	for try := range 2 * tries {
		if try == tries { // all of those that fit best are taken
			angles, twists = texts.Angles, texts.Twists
		}
		at := start + 7*try
		angle := angles[at%len(angles)]
		told = view{Angle: angle, Hook: samples.Fill(hook, "topic", angle)}
		topic = subject + ": " + angle + ", " + twists[(at/3+n)%len(twists)]
		if !taken.has(shapeOf(topic)) {
			return topic, told
		}
	}
	vocabulary := strings.Fields(words)
	var chosen []string
	for _, b := range sum {
		if word := vocabulary[int(b)%len(vocabulary)]; len(chosen) < sampleWords && !slices.Contains(chosen, word) {
			chosen = append(chosen, word)
		}
	}
	return subject + ": " + strings.Join(chosen, ", "), told
}

// subject returns what the sample of a slot is about, and whether that is a thing that is sold.
func (j *job) subject(o opening) (subject string, thing bool) {
	subjects := slices.Clone(j.recipe.Topics)
	if len(subjects) == 0 {
		subjects = []string{j.recipe.Name}
	}
	if j.plan.Brief != "" {
		subjects = slices.Insert(subjects, 0, string(j.plan.Brief))
	}
	if o.place.Pillar != "" {
		subjects = []string{o.place.Pillar}
	}
	if o.place.Event != "" {
		event, _, _ := strings.Cut(o.place.Event, " (")
		subjects = []string{event}
	}
	if o.product != nil {
		subjects, thing = []string{o.product.Name}, true
	}
	subject = short(clean(subjects[o.number%len(subjects)]))
	if subject == "" {
		subject = provider.Clip(clean(j.recipe.Name), sampleSubject)
	}
	return samples.Capital(strings.TrimRight(subject, ".!?…,;: ")), thing
}

// short returns a text that fits a topic: the whole, its first clause, or its first words without those that lead on
// to what is left out. It is empty if no words can be told apart.
func short(text string) string {
	if utf8.RuneCountInString(text) <= sampleSubject {
		return text
	}
	if i := strings.IndexAny(text, ".!?…,;:–—。、！？"); i > 0 && utf8.RuneCountInString(text[:i]) <= sampleSubject {
		return trimJoin(strings.Fields(text[:i]))
	}
	var kept []string
	length := 0
	for _, word := range strings.Fields(text) {
		if length += utf8.RuneCountInString(word) + 1; length > sampleSubject+1 {
			break
		}
		kept = append(kept, word)
	}
	return trimJoin(kept)
}

// trimJoin joins words without the last ones that lead on to what is left out.
func trimJoin(words []string) string {
	for len(words) > 0 && leadsOn(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

// leading are the longer words after which something has to follow. The shorter ones are nearly all such.
var leading = strings.Fields("about after with from into over under your their this that these those than when while " +
	"where which einen einem einer eines eine unser unsere unserem unseren unserer nach über unter durch gegen ohne " +
	"oder aber auch dass wenn beim zwischen pour avec dans sans sous vers chez notre votre leur cette para sobre " +
	"entre desde hasta como nuestro nuestra della dello delle degli dalla nella nelle sulla alla alle allo come " +
	"pela pelo uma com sem nossa nosso przez oraz przy przed dla nasze nasza через между перед после около наш наша " +
	"наши при или если чтобы після перед через між наші")

// leadsOn reports whether a word, such as a preposition or an article, cannot end a phrase.
func leadsOn(word string) bool {
	word = strings.ToLower(word)
	r, _ := utf8.DecodeRuneInString(word)
	small := unicode.In(r, unicode.Latin, unicode.Cyrillic) && utf8.RuneCountInString(word) <= 3 || unicode.IsDigit(r)
	return small || word == "&" || slices.Contains(leading, word)
}

// fitting returns the angles and twists that fit a subject: news have sober ones.
func (j *job) fitting(texts samples.Texts, thing bool) (angles, twists []string) {
	if j.recipe.Trade == string(factory.News) {
		return some(texts.Angles, newsAngles), some(texts.Twists, newsTwists)
	}
	if angles = texts.Angles; !thing && j.recipe.Trade != "" && len(j.plan.Pillars) > 0 {
		angles = nil
		for i, angle := range texts.Angles {
			if !slices.Contains(thingAngles, i) {
				angles = append(angles, angle)
			}
		}
	}
	return angles, texts.Twists
}

// some returns the texts with some numbers, as far as there are such.
func some(texts []string, numbers []int) (all []string) {
	for _, n := range numbers {
		if n < len(texts) {
			all = append(all, texts[n])
		}
	}
	return all
}

// shopPillars are the recurring subjects of a shop that names no topics, by language: what is new, how it is used, how
// it is made, what customers ask, and who makes it.
var shopPillars = map[string][]string{
	"ar": {"جديدنا", "طريقة الاستخدام", "كيف يُصنع", "أسئلة العملاء", "الناس وراء المتجر"},
	"de": {"Neu im Sortiment", "So benutzt man es", "Wie es gemacht wird", "Fragen von Kunden",
		"Die Menschen dahinter"},
	"en": {"New in the shop", "How to use it", "How it is made", "What customers ask", "The people behind it"},
	"es": {"Novedades de la tienda", "Cómo se usa", "Cómo se hace", "Lo que preguntan los clientes",
		"Quién está detrás"},
	"fr": {"Nouveautés de la boutique", "Comment s'en servir", "Comment c'est fait", "Les questions des clients",
		"Les gens derrière la boutique"},
	"he": {"חדש בחנות", "איך משתמשים", "איך זה נוצר", "מה הלקוחות שואלים", "האנשים שמאחורי החנות"},
	"hi": {"दुकान में नया", "इस्तेमाल कैसे करें", "यह कैसे बनता है", "ग्राहक क्या पूछते हैं", "दुकान के पीछे के लोग"},
	"it": {"Novità in negozio", "Come si usa", "Come è fatto", "Che cosa chiedono i clienti", "Chi c'è dietro"},
	"ja": {"新着商品", "使い方", "ものづくりの裏側", "お客さまの質問", "店の人たち"},
	"ko": {"새로 들어온 상품", "사용 방법", "만드는 과정", "고객의 질문", "가게 사람들"},
	"nl": {"Nieuw in de winkel", "Zo gebruik je het", "Hoe het gemaakt wordt", "Wat klanten vragen",
		"De mensen erachter"},
	"pl": {"Nowości w sklepie", "Jak tego używać", "Jak to powstaje", "O co pytają klienci",
		"Ludzie, którzy to tworzą"},
	"pt": {"Novidades da loja", "Como se usa", "Como é feito", "O que os clientes perguntam", "As pessoas por trás"},
	"ru": {"Новинки магазина", "Как этим пользоваться", "Как это делают", "Что спрашивают покупатели", "Люди магазина"},
	"th": {"ของใหม่ในร้าน", "วิธีใช้", "เบื้องหลังการผลิต", "คำถามจากลูกค้า", "คนเบื้องหลังร้าน"},
	"tr": {"Mağazada yeni", "Nasıl kullanılır", "Nasıl yapılır", "Müşterilerin soruları", "Arkasındaki insanlar"},
	"uk": {"Новинки магазину", "Як цим користуватися", "Як це роблять", "Що питають покупці", "Люди магазину"},
	"vi": {"Hàng mới về", "Cách sử dụng", "Quy trình làm ra", "Khách hàng hỏi gì", "Những người đứng sau"},
	"zh": {"店里新品", "怎么用", "怎样做成", "顾客常问", "背后的人"},

	text.Traditional: {"店裡新品", "怎麼用", "怎樣做成", "顧客常問", "背後的人"},
}

// shopPillarsIn returns the pillars of a shop in the language of a tag (BCP 47): in English if there are none.
func shopPillarsIn(tag string) []string {
	all, _ := text.In(shopPillars, tag)
	return all
}

var (
	// motion matches the words by which a brief asks for pictures that move.
	motion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:clips?|klip\p{L}*|video ?clips?|motion|footage|` +
			`film(?:ed|s)? scenes?|` +
			`animat\p{L}*|animation\p{L}*|animaci\p{L}*|animazion\p{L}*|animaç\p{L}*|animacj\p{L}*|animasyon\p{L}*|` +
			`moving (?:pictures?|images?|scenes?)|bewegtbild\p{L}*|bewegte\p{L}? bild\p{L}*|gefilmt\p{L}*|` +
			`images? animées?|filmée?s?|imágenes en movimiento|filmad\p{L}*|immagini in movimento|filmat\p{L}*|` +
			`imagens em movimento|ruchom\p{L}* obraz\p{L}*|клип\p{L}*|анимац\p{L}*|анімац\p{L}*|движущ\p{L}*|` +
			`рухом\p{L}*|съ[её]мк\p{L}*|hareketli görüntü\p{L}*|bewegend\p{L}* beeld\p{L}*|hình ảnh chuyển động|` +
			`hoạt hình|क्लिप|एनिमेशन|متحركة?|אנימציה|קליפים?)(?:[^\p{L}\p{M}]|$)|動く映像|動画クリップ|アニメーション|움직이는|클립|애니메이션|` +
			`动态画面|动画|视频片段|動態|ภาพเคลื่อนไหว|คลิป`)
	})
	// still matches the words before or after them by which it asks for none.
	still = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:no|not|without|never|kein\p{L}*|ohne|nicht|sans|pas d[e']|aucun\p{L}*|sin|` +
			`nada de|senza|niente|sem|bez|żadn\p{L}*|без|не|yok|olmadan|geen|zonder|không|ללא|בלי|بدون|لا|बिना|ไม่|` +
			`不要|不用|无|無)\s?(?:[\p{L}\p{M}]+\s){0,2}$`)
	})
)

// asksForMotion reports whether a brief asks for pictures that move, and does not ask for none.
func asksForMotion(brief string) bool {
	for from := 0; from < len(brief); {
		at := motion().FindStringIndex(brief[from:])
		if at == nil {
			return false
		}
		begin := strings.IndexFunc(brief[from+at[0]:], func(r rune) bool {
			return r > ' ' && !strings.ContainsRune(",.;:!?-–—(\"'", r)
		})
		if !still().MatchString(brief[:from+at[0]+max(begin, 0)]) {
			return true
		}
		from += max(at[1], 1)
	}
	return false
}
