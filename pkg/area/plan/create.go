package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/business"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// farthest is the number of days ahead that a plan may begin.
const farthest = 365

// The usual time until a plan has its first items.
const (
	usualLive    = 20 * time.Second
	usualSandbox = 3 * time.Second
)

type createBody struct {
	// Number of days.
	Days int `json:"days" minimum:"1" maximum:"90" example:"30"`
	// Number of items on each day on which something is published.
	PostsPerDay int `json:"posts_per_day" minimum:"1" maximum:"10" example:"2"`
	factory.Rest
	factory.Making
	// Types of the items, which are spread evenly. The factory must make each: one with video
	// makes short_video and long_video, too. video is a video of the usual length, as short_video is. Absent: those of
	// short_video, post and carousel that the factory makes, or else the first of story, long_video and music_clip.
	ContentTypes []string `json:"content_types,omitempty" format:"plan-contents" nullable:"false"`
	// First day, in the time zone of the plan: today or later. Of today, only times that are still to come count.
	// Absent: tomorrow.
	StartsOn string `json:"starts_on,omitempty" format:"date" example:"2026-12-01"`
	// What the plan is about, beyond the settings of the factory.
	Brief string `json:"brief,omitempty" format:"not-blank" maxLength:"2000" example:"The weeks before Christmas"`
	// Recurring subjects with their shares of the items. No two neighbours have the same one. Absent: the topics of the
	// factory, in equal shares.
	Pillars []Pillar `json:"pillars,omitempty" minItems:"1" maxItems:"8" nullable:"false"`
	// Rows of items about one matter, which build on each other: they are spread evenly over their days.
	Campaigns []Campaign `json:"campaigns,omitempty" maxItems:"5" nullable:"false"`
	// Quality of the texts of the items, as in POST /v1/content-items. Absent: the factory's.
	Quality string `json:"quality,omitempty" enum:"draft,standard,best"`
	// Active products that the items present in turn, of a factory of type seller. Absent: its newest active products,
	// if it has some.
	ProductIDs []string `json:"product_ids,omitempty" minItems:"1" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Percentage of the items that present a product, of a factory of type seller. The others do without, and speak of
	// its pillars. Absent: 60.
	ProductShare *int `json:"product_share,omitempty" minimum:"0" maximum:"100" example:"60"`
	// Country whose holidays and seasons count (ISO 3166-1). Absent: that of the factory's region, or else of its
	// language, such as de-AT, or of its time zone.
	Country string `json:"country,omitempty" format:"country" example:"DE"`
	// Time zone of the days and times (IANA). Absent: that of the factory's schedule, or else of its country, or UTC.
	Timezone string `json:"timezone,omitempty" maxLength:"64" example:"Europe/Berlin"`
	// What waits for an approval. topics: the topics are written and nothing else, at no cost; read, change, drop and
	// add some, and approve them one by one or all. none: the items are made of the topics as they are. Absent: that of
	// the factory, `plan_approve`.
	Approve string `json:"approve,omitempty" enum:"none,topics"`
	// Id of a running experiment of the factory. Its items get one arm of each factor at random: format, pillar and
	// slot only if all are written at once, and slot only with one item a day. Absent: they take part in none.
	ExperimentID string `json:"experiment_id,omitempty" maxLength:"64" example:"exp_01h455vb4pex5vsknk084sn02q"`
	// Ids of decided experiments of the factory whose winners are no settings of a factory: a length, a format or a
	// style of pictures. Its items are made with them. What is a setting comes with the factory once its proposal is
	// applied.
	FromExperimentIDs []string `json:"from_experiment_ids,omitempty" maxItems:"10" uniqueItems:"true" nullable:"false"`
	// Hours before its time at which an item is written, so that it knows the figures and news until then. Absent: 2
	// for a factory of type news, 48 for others with `approve: topics`, and all items at once for the rest.
	WriteAheadHours *int `json:"write_ahead_hours,omitempty" minimum:"1" maximum:"2160" example:"48"`
	// Whether this plan takes days that other plans have: their items that are not generated yet are canceled, as a
	// whole, or on these days alone if the items of the other plan are written at their times. Otherwise the call is
	// refused.
	Replace bool `json:"replace,omitempty" default:"false"`
	quote.CallTerms
	// Simulated result of each item. For test keys only.
	Sandbox *item.Rehearsal `json:"sandbox,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type createInput struct {
	factory.FactoryPath
	Body createBody
}

// createOp is the operation that creates a plan.
const createOp = "createContentPlan"

// create creates a plan: it reads the factory and what the body refers to, drafts the plan with its price, has the
// items obey the law, and enters the plan with its task and its reservation. A rehearsal drops what was entered.
func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Plan, err error) {
	p, now := auth.FromContext(ctx), s.now()
	terms, err := quote.Open(ctx, s.db, now, createOp, in.Body.CallTerms)
	if err != nil {
		return out, err
	}
	g, err := s.ground(ctx, in, now)
	if err != nil {
		return out, err
	}
	l, err := s.lessons(ctx, g.owner, g.factory, in.Body)
	if err != nil {
		return out, err
	}
	d, err := s.draft(in.Body, g.factory, l, terms, p.Mode, now, g.clock)
	if err != nil {
		return out, err
	}
	if err := s.obey(ctx, d, g.factory, terms); err != nil {
		return out, err
	}
	filled := terms.Tx(tx)
	if err := s.enter(filled, p, &d, in.Body, terms, g.owner, g.funds, g.book); err != nil {
		return out, err
	}
	if terms.Rehearsed() {
		return s.rehearse(ctx, tx, filled, terms, d, g.factory, g.owner)
	}
	return d.plan, terms.Use(tx, g.owner, d.plan.ReservedCredits, d.plan.ID)
}

// ground is what a new plan depends on: its factory with the owner of what is made for it, the book of its plans, and
// the funds of a live account, or the clock of a sandbox.
type ground struct {
	factory factory.Factory
	owner   tenant.Owner
	book    store.Item
	funds   ledger.Balance
	clock   time.Time
}

// ground reads it in one round trip, with the products that the body names, and checks these.
func (s *Service) ground(ctx context.Context, in *createInput, now time.Time) (g ground, err error) {
	p := auth.FromContext(ctx)
	keys := []store.Key{factoryrecord.BookKey(in.ID)}
	if p.Mode == tenant.Live {
		keys = append(keys, ledger.FundsKeys(p.Account, now)...)
	} else {
		keys = append(keys, testclock.Key(p.Owner))
	}
	funded := len(keys)
	for _, productID := range in.Body.ProductIDs {
		if id.Valid(id.Product, productID) {
			keys = append(keys, store.IDKey(productID))
		}
	}
	found, beside, err := s.factories.FindAll(ctx, []string{in.ID}, keys...)
	if err != nil {
		return g, err
	}
	f, ok := found[in.ID]
	if !ok {
		return g, errs.Missing(factory.Kind, in.ID)
	}
	g = ground{factory: f, owner: f.In(p.Owner), book: beside[0], clock: now}
	if p.Mode == tenant.Live {
		g.funds = ledger.FundsOf(beside[1:funded])
	} else if g.clock, err = testclock.At(&beside[1], now); err != nil {
		return g, err
	}
	return g, checkProducts(g.owner, f, in.Body.ProductIDs, beside[funded:])
}

// draft is a checked plan with the recipe of its items.
type draft struct {
	plan   Plan
	recipe Recipe
	// credits is the price of each item in its order, and live their total with a live key.
	credits []int64
	live    int64
	// priceBasis describes what the price of an item of each content type is for.
	priceBasis map[string]string
}

// draft checks a body, and returns its plan.
func (s *Service) draft(b createBody, f factory.Factory, l lessons, terms *quote.Terms, mode tenant.Mode,
	now, clock time.Time) (d draft, err error) {
	if f.State == factory.StatePaused {
		err := errs.New(errs.InvalidState, "The factory %s is paused and makes nothing new. Set its state to "+
			"active first.", f.ID).In(f.State, "update")
		if err := terms.Meet(err); err != nil {
			return d, err
		}
	}
	types, unmade := typesOf(b.ContentTypes, f)
	kind, err := businessOf(f)
	if err != nil {
		return d, err
	}
	d.recipe = Recipe{After: clock, Language: f.Language, Name: f.Name, Sells: f.Type == factory.Seller,
		Trade: string(f.Type), Items: map[string]*item.Record{}, Business: kind.Name}
	if f.Schedule != nil {
		d.recipe.Times = f.Schedule.Times
	}
	zone, country, unknown := whereOf(b, f)
	d.recipe.Country = country
	starts, late := start(b.StartsOn, zone, clock)
	if err := errs.All(content.CheckRehearsal(b.Sandbox, mode), unmade, unknown, late, b.suits(f),
		b.Rest.Check(), checkPillars(b.Pillars)); err != nil {
		return d, err
	}
	for _, t := range f.Topics {
		d.recipe.Topics = append(d.recipe.Topics, string(t))
	}
	d.recipe.Region = calendar.Region(country,
		append([]string{f.Name, string(f.Description), b.Brief, string(f.Audience)}, d.recipe.Topics...)...)
	d.plan = Plan{
		Resource: resource.New(id.New(id.ContentPlan, now), now, b.Metadata), FactoryID: f.ID, Days: b.Days,
		PostsPerDay:  b.PostsPerDay,
		ContentTypes: l.formats(types), StartsOn: starts, Timezone: zone, Country: resource.Text(country),
		Brief:      resource.Text(b.Brief),
		ProductIDs: append([]string{}, b.ProductIDs...), State: Queued, Usual: usualLive,
		Pillars: append([]Pillar{}, b.Pillars...), Campaigns: append([]Campaign{}, b.Campaigns...),
		Quality: item.QualityOf(b.Quality, f.Quality), Calendar: []Topic{},
		ExperimentID: resource.Text(b.ExperimentID), Learned: l.all,
		Approve: cmp.Or(b.Approve, f.PlanApprove, ApproveNone), WriteAheadHours: b.WriteAheadHours,
	}
	d.rest(b.Rest, f, kind)
	if err := d.make(b.Making, &f); err != nil {
		return d, err
	}
	if usual := usualLead(f.Type, d.plan.Approve); b.WriteAheadHours == nil && usual > 0 {
		d.plan.WriteAheadHours = &usual
	}
	if d.recipe.Sells {
		d.plan.ProductShare = usualShare
		if b.ProductShare != nil {
			d.plan.ProductShare = *b.ProductShare
		}
	}
	for _, name := range d.recipe.Topics {
		known := slices.ContainsFunc(d.plan.Pillars, func(o Pillar) bool { return sameName(o.Name, name) })
		if len(d.plan.Pillars) < mostPillars && b.Pillars == nil && !known {
			d.plan.Pillars = append(d.plan.Pillars, Pillar{Name: name, Share: 1})
		}
	}
	if len(d.plan.Pillars) == 0 && d.recipe.Sells && b.Pillars == nil {
		for _, name := range shopPillarsIn(f.Language) {
			d.plan.Pillars = append(d.plan.Pillars, Pillar{Name: name, Share: 1})
		}
	}
	if mode == tenant.Test {
		d.plan.Usual = usualSandbox
	}
	d.plan.QuoteID = resource.Text(terms.ID())
	if err := terms.Stamp(fmt.Sprint(f.ID, f.Version, d.plan.StartsOn)); err != nil {
		return d, err
	}
	return d, s.price(&d, b, f, l, terms, mode, now)
}

// rest sets the days on which a plan publishes: those of the body, of the schedule of its factory, or of its business.
// Those of a business that leave no day of the plan do not count.
func (d *draft) rest(asked factory.Rest, f factory.Factory, kind business.Kind) {
	p := &d.plan
	if f.Schedule != nil {
		p.Weekdays, p.SilentDays = f.Schedule.Weekdays, f.Schedule.SilentDays
	}
	if asked.Weekdays != nil {
		p.Weekdays = asked.Weekdays
	}
	if asked.SilentDays != nil {
		p.SilentDays = asked.SilentDays
	}
	if kind.Office && p.Weekdays == nil && p.SilentDays == nil {
		p.Weekdays, p.SilentDays = calendar.WorkingDays(d.recipe.Country), []string{calendar.Holidays}
		if d.recipe.Rests = p.opens(d.recipe.Country); !d.recipe.Rests {
			p.Weekdays, p.SilentDays = nil, nil
		}
	}
	if len(p.Weekdays) == 0 {
		p.Weekdays = calendar.Weekdays
	}
	p.SilentDays = append([]string{}, p.SilentDays...)
}

// opens reports whether the plan has a day on which something is published.
func (p *Plan) opens(country string) bool {
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	silence := p.silence(country)
	for n := range p.Days {
		if err == nil && silence.Open(first.AddDate(0, 0, n)) {
			return true
		}
	}
	return false
}

// make sets how the videos of a plan are made, and has the factory make them so. Stills cost a tenth of clips, and are
// made unless the caller, the factory or the brief asks for motion.
func (d *draft) make(asked factory.Making, f *factory.Factory) error {
	p := &d.plan
	p.Visuals = cmp.Or(asked.Visuals, string(f.Visuals))
	if p.Visuals == "" {
		if p.Visuals = item.VisualsStills; asksForMotion(string(p.Brief)) {
			p.Visuals = item.VisualsClips
		}
	}
	p.Music, p.DurationSeconds = cmp.Or(asked.Music, string(f.Music), item.MusicNone), f.DurationSeconds
	if asked.DurationSeconds != nil {
		p.DurationSeconds = asked.DurationSeconds
		fits := slices.ContainsFunc(Types, func(t Type) bool {
			return slices.Contains(p.ContentTypes, t.Name) && item.Options{DurationSeconds: asked.DurationSeconds}.
				Check(t.Kind, t.Format) == nil
		})
		if !fits {
			return errs.Invalid("/duration_seconds", "is no length of the content_types of the plan: short videos "+
				"take 10 to 60 seconds, long ones 30 to 180, music clips 15 to 60")
		}
	}
	f.Visuals, f.Music = resource.Text(p.Visuals), resource.Text(p.Music)
	f.DurationSeconds = p.DurationSeconds
	return nil
}

// businessOf returns the kind of business of a factory by what it says of itself.
func businessOf(f factory.Factory) (business.Kind, error) {
	raw, err := f.Settings.MarshalJSON()
	if err != nil {
		return business.Kind{}, err
	}
	var said struct {
		Field string `json:"field"`
		Shop  string `json:"shop_name"`
		Brand string `json:"brand_name"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return business.Kind{}, err
	}
	var topics []string
	for _, t := range f.Topics {
		topics = append(topics, string(t))
	}
	return business.Of(string(f.Type), string(f.Audience), said.Field, f.Name, said.Brand, said.Shop,
		string(f.Description), strings.Join(topics, ", ")), nil
}

// mostPillars is the number of topics of a factory that become pillars of a plan.
const mostPillars = 8

// ofFactory takes the place from a refusal of a model, since it is the factory's and has none in the body.
func ofFactory(err error) error {
	e := errs.As(err)
	if e.Code != errs.UnsupportedModel {
		return err
	}
	e.Param, e.Details = "", nil
	return e
}

// typesOf returns the content types of a plan, and refuses those that its factory does not make.
func typesOf(asked []string, f factory.Factory) ([]string, error) {
	var made, usual []string
	for _, t := range Types {
		if factoryrecord.Makes(f.ContentTypes, string(t.Kind), t.Format) {
			if made = append(made, t.Name); t.Usual || len(usual) == 0 {
				usual = append(usual, t.Name)
			}
		}
	}
	switch {
	case len(made) == 0:
		return nil, errs.Invalid("/content_types", "has no type that the factory makes: its content_types are %s. "+
			"Add post, video, carousel or story to them", strings.Join(f.ContentTypes, ", "))
	case asked == nil:
		return usual, nil
	}
	for _, t := range asked {
		if !slices.Contains(made, t) {
			return nil, errs.Invalid("/content_types", "%s is not among the content_types of the factory, which "+
				"makes %s", t, strings.Join(made, ", "))
		}
	}
	return asked, nil
}

// start returns the first day of a plan in a time zone, and refuses one in the past.
func start(asked, zone string, now time.Time) (string, error) {
	at, err := time.LoadLocation(zone)
	if err != nil {
		return "", err
	}
	today := clock.Day(now.In(at))
	last := today.AddDate(0, 0, farthest).Format(time.DateOnly)
	switch {
	case asked == "":
		return today.AddDate(0, 0, 1).Format(time.DateOnly), nil
	case asked < today.Format(time.DateOnly):
		return "", errs.Invalid("/starts_on", "is in the past: today is %s in the time zone %s",
			today.Format(time.DateOnly), zone)
	case asked > last:
		return "", errs.Invalid("/starts_on", "is too far ahead: it may be %s at the latest", last)
	}
	return asked, nil
}

// obey has the items of a draft follow the rules of law, and refuses what these forbid.
func (s *Service) obey(ctx context.Context, d draft, f factory.Factory, terms *quote.Terms) error {
	p, now := auth.FromContext(ctx), s.now()
	legal, err := f.Legal.Completed(ctx, s.db, f.In(p.Owner))
	if err != nil {
		return err
	}
	for _, r := range slices.AppendSeq(slices.Collect(maps.Values(d.recipe.Items)), maps.Values(d.recipe.Variants)) {
		r.PublishFor(p)
		item.Obey(r, legal)
		if err := terms.Meet(content.Permitted(ctx, s.db, r, f, now)); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a draft to the transaction, with the reservation of its price. The book of its factory was read.
func (s *Service) enter(tx *store.Tx, p *auth.Principal, d *draft, b createBody, terms *quote.Terms, o tenant.Owner,
	funds ledger.Balance, read store.Item) error {
	now := s.now()
	replaced, canceled, err := book(tx, now, o, d.plan, b.Replace, read)
	if err := terms.Meet(err); err != nil {
		return err
	}
	if p.Mode == tenant.Live && d.plan.Approve == ApproveNone {
		for _, c := range d.credits {
			d.plan.ReservedCredits += c
		}
	}
	if r := b.Sandbox; p.Mode == tenant.Test && r != nil {
		if err := terms.Meet(generate.RehearsedError(r.Outcome, d.live, p)); err != nil {
			return err
		}
	}
	return terms.Meet(Accept(tx, now, o, d.plan, d.recipe, d.plan.ReservedCredits, ledger.PayerOf(now, p), funds,
		replaced, canceled))
}

// book adds the plan to the book of its factory, which was read as the item. It returns the plans of which it replaces
// days, and those of them that it cancels, and refuses a plan that has days of others without leave.
func book(tx *store.Tx, now time.Time, o tenant.Owner, p Plan, replace bool,
	read store.Item) (replaced, canceled []string, err error) {
	b, err := factoryrecord.BookOf(read)
	if err != nil {
		return nil, nil, err
	}
	mine, err := p.Booked()
	if err != nil {
		return nil, nil, err
	}
	others := b.Overlapping(mine)
	for _, other := range others {
		replaced = append(replaced, other.ID)
	}
	if len(others) > 0 && !replace {
		return nil, nil, errs.New(errs.InvalidState, "The content plan %s of this factory has days from %s to %s "+
			"already. Send replace: true to cancel what it has not generated yet, or plan other days. Nothing was "+
			"created or spent.", others[0].ID, others[0].First, others[0].Last).In("planned", "replace")
	}
	canceled = b.Add(mine, replaced, now.AddDate(0, 0, -7))
	return replaced, canceled, b.Write(tx, now, o, p.FactoryID, read)
}

// Estimate returns the credits of each item that a body of createContentPlan makes for a
// factory with a live key, in their order.
func (s *Service) Estimate(ctx context.Context, factoryID string, body any) ([]int64, error) {
	return s.estimate(ctx, factoryID, body, "")
}

// EstimateVisuals returns the credits of a body of createContentPlan with stills and with clips, or false if its plan
// has no videos.
func (s *Service) EstimateVisuals(ctx context.Context, factoryID string, body any) (stills, clips int64, ok bool,
	err error) {
	var totals [2]int64
	for i, visuals := range []string{item.VisualsStills, item.VisualsClips} {
		credits, err := s.estimate(ctx, factoryID, body, visuals)
		if err != nil {
			return 0, 0, false, err
		}
		for _, c := range credits {
			totals[i] += c
		}
	}
	return totals[0], totals[1], totals[0] != totals[1], nil
}

// estimate is Estimate for some visuals, or for those of the body.
func (s *Service) estimate(ctx context.Context, factoryID string, body any, visuals string) ([]int64, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return nil, err
	}
	b.Visuals = cmp.Or(visuals, b.Visuals)
	p := auth.FromContext(ctx)
	if err := content.CheckRehearsal(b.Sandbox, p.Mode); err != nil {
		return nil, err
	}
	b.Sandbox = nil
	f, of, err := s.factories.Find(ctx, factoryID)
	if err != nil {
		return nil, err
	}
	l, err := s.lessons(ctx, of.Owner, f, b)
	if err != nil {
		return nil, err
	}
	now := s.now()
	clock, err := testclock.Now(ctx, s.db, auth.FromContext(ctx).Owner, now)
	if err != nil {
		return nil, err
	}
	d, err := s.draft(b, f, l, new(quote.Terms), tenant.Live, now, clock)
	return d.credits, err
}

// checkProducts refuses products that the items of a factory's plan cannot present. Their items were read.
func checkProducts(o tenant.Owner, f factory.Factory, ids []string, items []store.Item) error {
	if f.Type != factory.Seller { // suits refuses the member as a whole
		return nil
	}
	var found []error
	for i, productID := range ids {
		at := slices.IndexFunc(items, func(it store.Item) bool { return it.PK == productID })
		if at < 0 {
			at, items = len(items), append(items, store.Item{})
		}
		found = append(found, checkProduct("/product_ids/"+strconv.Itoa(i), productID, items[at], o, f.ID))
	}
	return errs.All(found...)
}

// checkProduct refuses a product, whose item was read, that the items of a factory's plan cannot present. The param
// names the member of the body that has its id.
func checkProduct(param, productID string, it store.Item, o tenant.Owner, factoryID string) error {
	switch {
	case product.IsOffered(it, o, factoryID):
		return nil
	case it.PK != productID || it.Kind != product.ItemKind || !o.Sees(it.Owner):
		return errs.MissingAt(param, product.ItemKind, productID)
	}
	return errs.Invalid(param, "is archived, or a product of another factory. Send an active product of the "+
		"factory %s", factoryID)
}

// usualShare is the percentage of a seller's items that present a product if a caller names none.
const usualShare = 60

// The values of approve: what waits for an approval.
const (
	ApproveNone   = "none"
	ApproveTopics = "topics"
)

// usualLead returns the hours before its time at which an item is written if a caller names none, or 0: at once. News
// of an hour ago are news, and whoever approves topics wants the figures of the weeks before in the texts.
func usualLead(of factory.Type, approve string) int {
	switch {
	case of == factory.News:
		return 2
	case approve == ApproveTopics:
		return 48
	}
	return 0
}

// noSeller refuses a member that needs products in a plan of another factory.
const noSeller = factoryrecord.ForSellers + ". Leave it out"

// suits refuses products in a plan of a factory that has none, and two names of one type.
func (b *createBody) suits(f factory.Factory) error {
	sells := f.Type == factory.Seller
	return errs.All(
		errs.InvalidIf(len(b.ProductIDs) > 0 && !sells, "/product_ids", noSeller, f.Type),
		errs.InvalidIf(b.ProductShare != nil && !sells, "/product_share", noSeller, f.Type),
		errs.InvalidIf(slices.Contains(b.ContentTypes, "video") && slices.Contains(b.ContentTypes,
			factoryrecord.ShortVideo), "/content_types", "video and short_video are the same in a plan, whose videos "+
			"are short by default. Name one of them"))
}

// whereOf returns the time zone and the country of a plan: those that its caller names, or else those of the factory. A
// factory without a schedule has the zone of its country, and UTC if that is not known either.
func whereOf(b createBody, f factory.Factory) (zone, country string, err error) {
	if zone = b.Timezone; zone == "" && f.Schedule != nil {
		zone = f.Schedule.Timezone
	}
	if country = b.Country; country != "" {
		if err := law.CheckCountry("/country", country); err != nil {
			return time.UTC.String(), country, err
		}
	} else {
		region, err := regionOf(f)
		if err != nil {
			return "", "", err
		}
		country = calendar.Country(region, f.Language, zone)
	}
	if zone == "" {
		zone = calendar.Zone(country)
	}
	if zone == "" {
		return time.UTC.String(), country, nil
	}
	if _, err := clock.Zone(zone); err != nil {
		return time.UTC.String(), country, errNoZone()
	}
	return zone, country, nil
}

func errNoZone() error {
	return errs.Invalid("/timezone", "is not an IANA time zone; write it as Europe/Berlin")
}

// regionOf returns the country that a factory names: where its content is published, or what its news are about.
func regionOf(f factory.Factory) (string, error) {
	if f.Region != nil {
		return *f.Region, nil
	}
	raw, err := f.Settings.MarshalJSON()
	if err != nil {
		return "", err
	}
	var settings struct{ Region string }
	err = json.Unmarshal(raw, &settings)
	return settings.Region, err
}

// price sets the recipe of the items of a draft, and their price.
func (s *Service) price(d *draft, b createBody, f factory.Factory, l lessons, terms *quote.Terms, mode tenant.Mode,
	now time.Time) (err error) {
	// A trained model writes texts of items; its base model chooses their topics.
	base, _ := f.TextModel()
	if f.ReplaceRetiredModels {
		base = s.offer.Succeed(base, mode == tenant.Live)
	}
	if d.recipe.Model, err = s.offer.Choose("text", "", base, mode == tenant.Live); err != nil {
		return ofFactory(err)
	}
	live := map[string]int64{}
	d.recipe.Prices, d.recipe.Reserves = live, map[string]int64{}
	d.priceBasis = map[string]string{}
	begin := func(t Type, arms *item.Trial) (*item.Record, error) {
		r, err := content.Planned(f, t.Kind, t.Format, d.plan.Quality, strings.Repeat("x", MaxTopic),
			LongestSlot(b.Brief), arms, b.Sandbox, s.offer, mode, now)
		if err != nil {
			return nil, ofFactory(err)
		}
		if d.priceBasis[t.Name] == "" {
			d.priceBasis[t.Name] = r.Attempt.PriceBasis()
		}
		bound, err := terms.BoundOf(t.Name, d.priceBasis[t.Name])
		if err != nil {
			return nil, err
		}
		price := item.PlannerOf(r).LivePrice()
		if r.Attempt.Bound(bound); bound != nil {
			price = min(price, bound.Credits)
		}
		live[t.Name] = max(live[t.Name], price)
		d.recipe.Reserves[t.Name] = max(d.recipe.Reserves[t.Name], r.Attempt.Credits)
		r.Item.Prompt, r.Slot = "", nil
		return r, nil
	}
	for _, t := range Types {
		if !slices.Contains(d.plan.ContentTypes, t.Name) {
			continue
		}
		base := l.base(t)
		if d.recipe.Items[t.Name], err = begin(t, base); err != nil {
			return err
		}
		for _, a := range l.variants(t) {
			with := &item.Trial{Arms: append([]item.TrialArm{a}, base.Arms...)}
			if d.recipe.Variants == nil {
				d.recipe.Variants = map[string]*item.Record{}
			}
			if d.recipe.Variants[variant(t.Name, a.Arm)], err = begin(t, with); err != nil {
				return err
			}
		}
	}
	if types := formatsOf(l.runs, d.plan.ContentTypes); d.plan.WriteAheadHours == nil {
		level(live, types)
		level(d.recipe.Reserves, types)
	}
	slots, err := d.plan.Slots(d.recipe, Hours{})
	if err != nil {
		return err
	}
	if len(slots) == 0 {
		return errs.Invalid("/days", "has no day on which something is published. Plan more days, or change weekdays "+
			"and silent_days of the body or of the schedule of the factory")
	}
	if err := d.plan.CheckCampaigns(slots); err != nil {
		return err
	}
	for _, slot := range slots {
		d.credits = append(d.credits, d.recipe.reserved(slot.HeldType))
		d.live += live[slot.Type]
	}
	d.plan.Items.Total, d.plan.CostEstimate = int64(len(slots)), d.live
	return nil
}

// CreateShape returns the JSON Schema of the body of createContentPlan.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "metadata", "sandbox", "rehearse", "quote_id")
}

// Check checks a body of createContentPlan, a parsed JSON value, for a factory as the operation does, but for its money
// and for days of other plans. Places in errors begin with the member body.
func (s *Service) Check(ctx context.Context, factoryID string, body any) error {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return err
	}
	f, of, err := s.factories.Find(ctx, factoryID)
	if err != nil {
		return err
	}
	l, err := s.lessons(ctx, of.Owner, f, b)
	if err != nil {
		return errs.Below("/body", err)
	}
	p, now := auth.FromContext(ctx), s.now()
	clock, err := testclock.Now(ctx, s.db, p.Owner, now)
	if err != nil {
		return err
	}
	_, err = s.draft(b, f, l, new(quote.Terms), p.Mode, now, clock)
	return errs.Below("/body", err)
}

// CreateFrom is createContentPlan with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, factoryID string, body any) (Plan, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return Plan{}, err
	}
	b.CallTerms = quote.CallTerms{} // they are of a call, and this is no call of the operation
	p, err := s.create(ctx, tx, &createInput{factory.FactoryPath{ID: factoryID}, b})
	return p, errs.Below("/body", err)
}

// rehearse ends the rehearsal of a draft, which has filled a transaction: it finds the calendar as the handler does.
func (s *Service) rehearse(ctx context.Context, tx, filled *store.Tx, terms *quote.Terms, d draft, f factory.Factory,
	o tenant.Owner) (Plan, error) {
	read, err := s.db.Get(ctx, factoryrecord.Key(f.ID))
	if err != nil {
		return d.plan, err
	}
	hours, err := hoursOf(ctx, s.db, s.now, read, d.plan.Timezone, d.recipe)
	if err != nil {
		return d.plan, err
	}
	slots, err := d.plan.Slots(d.recipe, hours)
	if err != nil {
		return d.plan, err
	}
	places, err := d.plan.thread(slots, d.recipe)
	if err != nil {
		return d.plan, err
	}
	items := content.Rehearser{Service: content.NewService(s.db, s.factories, nil, s.offer, s.now)}
	of := map[string]rehearsal.Item{}
	for i, slot := range slots {
		one, known := of[slot.Type]
		if !known {
			r := *d.recipe.Items[slot.Type]
			at := resource.Instant(slot.At)
			r.Item.PublishAt = &at
			if one, err = items.ItemOf(ctx, o, &r, f.SocialAccountIDs); err != nil {
				return d.plan, err
			}
			for n := range one.Publications { // the problems that are left out belong to one time
				p := &one.Publications[n]
				p.Problems = slices.DeleteFunc(p.Problems, func(p rehearsal.Problem) bool {
					return p.Param == "/publish_at"
				})
			}
			of[slot.Type] = one
		}
		at := resource.Instant(slot.At)
		one.PublishAt, one.Pillar, one.Credits = &at, resource.Text(places[i].Pillar), d.recipe.Prices[slot.HeldType]
		terms.Add(one, slot.HeldType, d.priceBasis[slot.HeldType])
	}
	out := d.plan
	out.QuoteID = ""
	out.Rehearsal, err = terms.Close(ctx, s.db, tx, filled, o)
	return out, err
}
