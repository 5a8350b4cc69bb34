package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// maxBatch bounds the items of a batch.
const maxBatch = 50

// defaultSlides is the number of slides of a carousel whose body names none.
const defaultSlides = 5

type createBody struct {
	FactoryID       string            `json:"factory_id" doc:"Factory that makes the item. It sets the voice" example:"fac_01h455vb4pex5vsknk084sn02q"`
	Kind            item.Kind         `json:"kind" enum:"post,video,carousel,story,music_clip" doc:"Kind of content" example:"post"`
	Format          string            `json:"format,omitempty" enum:"short,long" doc:"Format of a video: short (9:16, the default) or long (16:9). For kind video only"`
	Prompt          string            `json:"prompt" minLength:"1" maxLength:"4000" doc:"What the content is about" example:"Our new trail running shoe, made of recycled nets"`
	Title           string            `json:"title,omitempty" format:"not-blank" maxLength:"200" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Absent: generated"`
	Caption         string            `json:"caption,omitempty" format:"not-blank" maxLength:"5000" doc:"Absent: generated"`
	Hashtags        []Hashtag         `json:"hashtags,omitempty" maxItems:"30" uniqueItems:"true" nullable:"false" doc:"Hashtags, without the #. Absent: generated"`
	Language        string            `json:"language,omitempty" maxLength:"35" doc:"Language of its texts (BCP 47). Absent: the factory's"`
	Model           string            `json:"model,omitempty" maxLength:"100" doc:"Id of the model for the pictures, clips or track. Absent: the factory's, or else the default of the catalog. With a video model, a story is a clip; with visuals stills, a video needs an image model"`
	DurationSeconds *int              `json:"duration_seconds,omitempty" minimum:"5" maximum:"180" doc:"Length in seconds. A script of your own determines it. Of short videos 10 to 60 (default 20), of long ones 30 to 180 (60), of music clips 15 to 60 (30), of stories that are clips 5 to 15 (5). Not for other kinds" example:"20"`
	Visuals         string            `json:"visuals,omitempty" enum:"clips,stills" doc:"What is seen in a video: clips of the model, or pictures with a slow movement, which cost a fraction. Absent: clips. For kind video only"`
	Music           string            `json:"music,omitempty" maxLength:"64" pattern:"^(none|generated|med_[0-9a-z]{26})$" patternDescription:"none, generated or the id of a media: bring your music in by POST /v1/media first" doc:"What is heard under the voice of a video: none, generated, or the id of your media of type audio (MP3 or WAV, up to 15 minutes; it is repeated where it is shorter). Absent: none. For kind video only" example:"generated"`
	Cover           string            `json:"cover,omitempty" maxLength:"64" pattern:"^(generated|med_[0-9a-z]{26})$" patternDescription:"generated or the id of a media: bring the picture in by POST /v1/media first" doc:"Cover of a music clip: generated, or the id of your media of type image. Absent: generated. For kind music_clip only" example:"generated"`
	Script          string            `json:"script,omitempty" format:"not-blank" maxLength:"4000" doc:"What is said in a video, word for word; it is divided into scenes at the ends of its sentences. Of a music clip, the lyrics, for a model that requires them. Absent: generated" example:"We pulled these nets out of the sea. Now they carry you up the hill."`
	Scenes          []sceneBody       `json:"scenes,omitempty" minItems:"1" maxItems:"40" nullable:"false" doc:"The script in scenes of your own, instead of script. For kind video only"`
	Slides          []slideBody       `json:"slides,omitempty" minItems:"2" maxItems:"10" nullable:"false" doc:"Slides of a carousel. Absent: five, with generated headings. For kind carousel only"`
	ProductID       string            `json:"product_id,omitempty" maxLength:"64" doc:"Id of an active product of the factory that the item presents: its name, price and running promotion are in the texts, and its photos in the pictures" example:"prd_01h455vb4pex5vsknk084sn02q"`
	PromotionID     string            `json:"promotion_id,omitempty" maxLength:"64" doc:"Id of a promotion of the product that has not ended. Absent: the active one with the lowest price, if there is one. Needs product_id" example:"prm_01h455vb4pex5vsknk084sn02q"`
	PublishAt       *resource.Time    `json:"publish_at,omitempty" doc:"Time at which it is published, once it is generated: in the future, within 180 days. If it is generated later, it is published then. Needs the scope content:publish as well. Absent: it is not scheduled, unless its factory has auto_publish" example:"2027-01-15T09:30:00Z"`
	Accounts        []string          `json:"social_account_ids,omitempty" minItems:"1" maxItems:"15" uniqueItems:"true" nullable:"false" doc:"Ids of the social accounts to publish to. Needs publish_at. Absent: those of its factory, without those that cannot publish it"`
	Options         platformOptions   `json:"options,omitempty" doc:"Options of the post, by platform. Needs publish_at"`
	Sandbox         *item.Rehearsal   `json:"sandbox,omitempty" doc:"Simulated result. For test keys only"`
	Metadata        resource.Metadata `json:"metadata,omitempty" doc:"Up to 20 key-value pairs of your own"`
}

// choices returns the options of generation, without the file of the caller's music.
func (b *createBody) choices() item.Options {
	return item.Options{Model: b.Model, DurationSeconds: b.DurationSeconds, Visuals: b.Visuals, Music: b.Music,
		Cover: b.Cover, Script: b.Script, Scenes: scenesOf(b.Scenes)}
}

type sceneBody struct {
	Text   string `json:"text" format:"not-blank" maxLength:"1000" doc:"What is said" example:"We pulled these nets out of the sea."`
	Visual string `json:"visual,omitempty" format:"not-blank" maxLength:"300" doc:"What is seen. Absent: the model of the pictures is told what is said, and a correction keeps what is seen" example:"Fishermen haul a torn net on board at dawn"`
}

func scenesOf(bodies []sceneBody) (scenes []item.Scene) {
	for _, b := range bodies {
		scenes = append(scenes, item.Scene(b))
	}
	return scenes
}

type slideBody struct {
	Text string `json:"text,omitempty" format:"not-blank" maxLength:"200" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Heading of the slide. Absent: generated"`
}

type createInput struct {
	Body createBody
}

type batchBody struct {
	Items []createBody `json:"items" minItems:"1" maxItems:"50" nullable:"false" doc:"Items to create: all or none"`
}

type batchInput struct {
	Body batchBody
}

// batch holds the items that a call has created, in their order.
type batch []item.Item

// Pending returns the list of the created items, and the time to look at it.
func (b batch) Pending() (path string, after time.Duration) {
	for _, it := range b {
		after = max(after, it.Usual)
	}
	return "/v1/content-items?limit=" + strconv.Itoa(maxBatch) + "&" + resource.MadeAt(b[0].CreatedAt.Time), after
}

// Schema describes the answer in the OpenAPI document.
func (batch) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[item.Item](), true, "")}
}

// registerCreate adds the operations that create items to the router.
func (s *Service) registerCreate(r *httpapi.Router) {
	codes := []errs.Code{errs.NotFound, errs.InvalidState, errs.UnsupportedModel, errs.UnsupportedMedia,
		errs.InsufficientBalance, errs.SpendLimitReached, errs.QueueFull}
	create := op("createContentItem", http.MethodPost, "/v1/content-items", auth.ContentWrite, "Create a content item",
		"The item is generated in the background, with the current settings of the factory, whose `content_types` "+
			"must contain its kind. The event `content.generated` or `content.failed` reports its end. The cost "+
			"depends on the request: it is reserved now, charged when the item is generated, and released if it "+
			"fails, but for the completed parts where finished media cannot be made of what you gave. Canceling "+
			"charges the parts that were completed and releases the rest. With `publish_at` it is scheduled as soon as "+
			"it is generated, as by `POST /v1/content-items/{content_item_id}/schedule`. With a test key nothing is spent, and "+
			"`sandbox` selects the result.")
	create.Status, create.Errors = http.StatusAccepted, codes
	httpapi.Write(r, create, s.create)

	batch := op("createContentItems", http.MethodPost, "/v1/content-items/batch", auth.ContentWrite,
		"Create several content items",
		"Creates up to 50 items, each like `POST /v1/content-items`, or none: if one is refused, nothing is created "+
			"or spent. The response lists them in the order of the request. If several are refused, `details` lists "+
			"all, and `code` is that of the first.")
	batch.Status, batch.Errors = http.StatusAccepted, codes
	httpapi.Write(r, batch, s.createBatch)
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	refs, err := s.open(ctx, p, in.Body)
	if err != nil {
		return out, err
	}
	r, err := s.accepted(ctx, p, in.Body, refs, now)
	if err != nil {
		return out, err
	}
	if err := rehearsedError(p, r); err != nil {
		return out, err
	}
	order := r.Order(refs.owner)
	r.Usual = order.Usual()
	if r.Ticket, err = generate.Accept(tx, now, order, ledger.PayerOf(now, p.KeyID(), p.SpendLimit),
		refs.balance); err != nil {
		return out, err
	}
	it, err := r.Entry(refs.owner)
	if err != nil {
		return out, err
	}
	tx.Create(it, nil)
	if err := refs.media.Use(tx, now); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

func (s *Service) createBatch(ctx context.Context, tx *store.Tx, in *batchInput) (out batch, err error) {
	p, now := auth.FromContext(ctx), s.now()
	refs, err := s.open(ctx, p, in.Body.Items...)
	if err != nil {
		return out, err
	}
	var bad batchErrors
	var records []*item.Record
	var works []generate.Order
	for i, b := range in.Body.Items {
		r, err := s.accepted(ctx, p, b, refs, now)
		if err != nil {
			if err := bad.add(i, err); err != nil {
				return out, err
			}
			continue
		}
		order := r.Order(refs.owner)
		r.Usual = order.Usual()
		records, works = append(records, r), append(works, order)
	}
	if err := bad.err(); err != nil {
		return out, err
	}
	if err := rehearsedError(p, records...); err != nil {
		return out, err
	}
	ticket, err := generate.AcceptBatch(tx, now, works, ledger.PayerOf(now, p.KeyID(), p.SpendLimit), refs.balance)
	if err != nil {
		return out, err
	}
	if err := refs.media.Use(tx, now); err != nil {
		return out, err
	}
	for _, r := range records {
		r.Ticket = ticket
		it, err := r.Entry(refs.owner)
		if err != nil {
			return out, err
		}
		tx.Create(it, nil)
		v, err := s.view(ctx, r)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

// batchErrors collects why items of a batch cannot be accepted.
type batchErrors struct {
	first   *errs.Error
	details []errs.Detail
}

// add notes the error of the i-th item. It returns err if err is no answer to the caller.
func (f *batchErrors) add(i int, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	at := fmt.Sprintf("/items/%d", i)
	details := e.Details
	if details == nil {
		details = []errs.Detail{{Param: e.Param, Message: e.Message}}
	}
	for _, d := range details {
		f.details = append(f.details, errs.Detail{Param: at + d.Param, Message: d.Message})
	}
	if f.first == nil {
		f.first = e
	}
	return nil
}

// err returns the error of the whole batch, or nil if no item was refused.
func (f *batchErrors) err() error {
	if f.first == nil {
		return nil
	}
	e := errs.InvalidFields(f.details...)
	e.Code, e.Context = f.first.Code, f.first.Context
	return e
}

// check refuses members that do not fit the kind or the key.
func (b *createBody) check(mode tenant.Mode) error {
	return errs.All(checkRehearsal(b.Sandbox, mode), b.Rules())
}

// Rules refuses members that do not fit the kind.
func (b *createBody) Rules() error {
	var found []error
	if b.Format != "" && b.Kind != item.Video {
		found = append(found, errs.Invalid("/format", "is for kind video only"))
	}
	if b.Slides != nil && b.Kind != item.Carousel {
		found = append(found, errs.Invalid("/slides", "are for kind carousel only"))
	}
	if b.PublishAt == nil {
		if b.Accounts != nil {
			found = append(found, errs.Invalid("/social_account_ids", "needs publish_at, the time to publish it"))
		}
		if b.Options != nil {
			found = append(found, errs.Invalid("/options", "needs publish_at, the time to publish it"))
		}
	}
	if b.PromotionID != "" && b.ProductID == "" {
		found = append(found, errs.Invalid("/promotion_id", "needs product_id, the product that the item presents"))
	}
	found = append(found, b.choices().Check(b.Kind, cmp.Or(b.Format, item.FormatShort)))
	return errs.All(found...)
}

// Rules refuses members that do not fit the kinds of the items.
func (b *batchBody) Rules() error {
	var bad batchErrors
	for i := range b.Items {
		if err := b.Items[i].Rules(); err != nil {
			if err := bad.add(i, err); err != nil {
				return err
			}
		}
	}
	return bad.err()
}

// checkRehearsal refuses a rehearsal of a live key, or one that makes no sense.
func checkRehearsal(r *item.Rehearsal, mode tenant.Mode) error {
	switch {
	case r == nil:
		return nil
	case mode != tenant.Test:
		return errs.Invalid("/sandbox", "works with test keys only; leave it out with a live key")
	}
	return r.Check(r.Outcome)
}

// rehearsedError returns the error that the records' rehearsals request, or nil.
func rehearsedError(p *auth.Principal, records ...*item.Record) error {
	var outcome string
	var credits int64
	for _, r := range records {
		if r.Sandbox == nil {
			continue
		}
		credits += r.LivePrice()
		if generate.RehearsedError(r.Sandbox.Outcome, 0, p) != nil && outcome == "" {
			outcome = r.Sandbox.Outcome
		}
	}
	return generate.RehearsedError(outcome, credits, p)
}

// newRecord returns the item of a body in the voice of its factory.
func (s *Service) newRecord(b createBody, a references, mode tenant.Mode, now time.Time) (*item.Record, error) {
	f, found := a.factories[b.FactoryID]
	if !found {
		e := errs.Missing(factory.Kind, b.FactoryID)
		e.Param = "/factory_id"
		return nil, e
	}
	if f.State == factory.StatePaused {
		e := errs.New(errs.InvalidState, "The factory %s is paused and takes no new content items. Set its state to "+
			"active first.", f.ID)
		e.Param = "/factory_id"
		return nil, e.With(errs.StateContext{State: f.State, Allowed: []string{"update"}})
	}
	if !slices.Contains(f.ContentTypes, string(b.Kind)) {
		return nil, errs.Invalid("/kind", "is not among the content_types of the factory, which are %s",
			strings.Join(f.ContentTypes, ", "))
	}
	r := &item.Record{
		Item: item.Item{
			Resource:  resource.New(id.New(id.ContentItem, now), now, b.Metadata),
			FactoryID: f.ID, Kind: b.Kind, Prompt: b.Prompt, Title: b.Title, Caption: b.Caption, Hashtags: []string{},
			Scenes: []item.Scene{}, Slides: []item.Slide{}, SocialAccountIDs: []string{},
			Publications: []item.Publication{}, OmittedAccounts: []item.OmittedAccount{},
			State: item.Queued, Attempt: 1,
		},
		Automatic: f.AutoPublish, Withheld: a.withheld,
		Given:   item.Given{Title: b.Title != "", Caption: b.Caption != "", Hashtags: len(b.Hashtags) > 0},
		Sandbox: b.Sandbox, Accepted: now,
	}
	for _, h := range b.Hashtags {
		r.Hashtags = append(r.Hashtags, string(h))
	}
	var err error
	if r.Language, err = factory.Language(b.Language, f.Language); err != nil {
		return nil, err
	}
	switch b.Kind {
	case item.Video:
		format := cmp.Or(b.Format, item.FormatShort)
		r.Format = &format
	case item.Carousel:
		setSlides(r, b.Slides)
	}
	if r.Brief, err = newBrief(f); err != nil {
		return nil, err
	}
	if r.Brief.Product, err = a.product(b, now); err != nil {
		return nil, err
	}
	r.ProductID, r.PromotionID = r.Brief.Product.IDs()
	w := b.choices()
	if err := a.files(&w); err != nil {
		return nil, err
	}
	return r, r.Plan(s.offer, w, mode == tenant.Live)
}

// setSlides sets the slides of a carousel.
func setSlides(r *item.Record, slides []slideBody) {
	if slides == nil {
		slides = make([]slideBody, defaultSlides)
	}
	for i, slide := range slides {
		r.Slides = append(r.Slides, item.Slide{Text: slide.Text})
		if slide.Text != "" {
			r.Given.Slides = append(r.Given.Slides, i)
		}
	}
}
