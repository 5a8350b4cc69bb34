package content

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/engine"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// FactoryFinder finds the factory that an item is made for.
type FactoryFinder interface {
	// Find reads a factory of the caller's account and mode, or gives not_found.
	Find(ctx context.Context, factoryID string) (factory.Factory, store.Item, error)
}

var _ FactoryFinder = (*factory.Service)(nil)

// NewService makes the service.
func NewService(db *store.DB, factories FactoryFinder, signer *media.Signer, offer catalog.Offer, now func() time.Time) *Service {
	return &Service{db, factories, signer, offer, now}
}

// defaultSlides is how many slides a carousel gets that was given none.
const defaultSlides = 5

type createBody struct {
	FactoryID string           `json:"factory_id" doc:"The factory whose voice it gets" example:"fac_01h455vb4pex5vsknk084sn02q"`
	Kind      Kind             `json:"kind" enum:"post,video,carousel,story,music_clip" doc:"What to make" example:"post"`
	Format    string           `json:"format,omitempty" enum:"short,long" doc:"Of a video only: short (9:16, the default) or long (16:9)"`
	Prompt    string           `json:"prompt" minLength:"1" maxLength:"4000" doc:"What it is to be about" example:"Our new trail running shoe, made of recycled nets"`
	Title     string           `json:"title,omitempty" maxLength:"200" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Left out: generated"`
	Caption   string           `json:"caption,omitempty" maxLength:"5000" doc:"Left out: generated"`
	Hashtags  []Hashtag        `json:"hashtags,omitempty" maxItems:"30" uniqueItems:"true" nullable:"false" doc:"Without the #; left out: generated"`
	Language  string           `json:"language,omitempty" maxLength:"35" doc:"Language of its texts (BCP 47); left out: the factory's"`
	Model     string           `json:"model,omitempty" maxLength:"100" doc:"Id of a model of the catalog; left out: the factory's, or the catalog's default"`
	Slides    []slideBody      `json:"slides,omitempty" minItems:"2" maxItems:"10" nullable:"false" doc:"Of a carousel only; left out: five, with generated headings"`
	Sandbox   *Rehearsal       `json:"sandbox,omitempty" doc:"With a test key only: how the item ends"`
	Metadata  httpapi.Metadata `json:"metadata,omitempty" doc:"Up to 20 string pairs of your own"`
}

// SchemaName names the schema in the OpenAPI document.
func (createBody) SchemaName() string { return "ContentItemCreate" }

type slideBody struct {
	Text string `json:"text,omitempty" maxLength:"200" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Heading of the slide; left out: generated"`
}

// SchemaName names the schema in the OpenAPI document.
func (slideBody) SchemaName() string { return "ContentSlideCreate" }

type createInput struct {
	Body createBody
}

type itemID struct {
	ID string `path:"content_item_id" doc:"Id of the content item" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	httpapi.Period
	FactoryID     string `query:"factory_id" doc:"Only items of this factory"`
	Kind          string `query:"kind" enum:"post,video,carousel,story,music_clip" doc:"Only items of this kind"`
	State         string `query:"state" enum:"queued,generating,generated,scheduled,publishing,published,failed,canceled" doc:"Only items in this state"`
	ContentPlanID string `query:"content_plan_id" doc:"Only items of this plan"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: scope, Function: "content", Tag: "Content",
			Summary: summary, Description: description,
		}
	}
	list := op("listContentItems", http.MethodGet, "/v1/content-items", auth.ContentRead, "List the content items", "Newest first.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createContentItem", http.MethodPost, "/v1/content-items", auth.ContentWrite, "Create a content item",
		"Accepted at once and generated in the background: `content.generated` or `content.failed` tells when it is done. With a test key nothing is spent, and `sandbox` rehearses each outcome.")
	create.Status = http.StatusAccepted
	create.Errors = []errs.Code{errs.NotFound, errs.UnsupportedModel, errs.InsufficientBalance, errs.QueueFull}
	create.Example = map[string]any{"factory_id": "fac_01h455vb4pex5vsknk084sn02q", "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets"}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getContentItem", http.MethodGet, "/v1/content-items/{content_item_id}", auth.ContentRead, "Get a content item", "With fresh addresses of its media."), s.get)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Item], error) {
	from, to, err := in.Bounds(id.ContentItem)
	if err != nil {
		return httpapi.Page[Item]{}, err
	}
	if in.FactoryID != "" && !id.Valid(id.Factory, in.FactoryID) {
		return httpapi.Page[Item]{}, errs.Invalid("factory_id", "is not the id of a factory")
	}
	p := auth.FromContext(ctx)
	q := store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(p.Account, string(p.Mode), ItemKind), From: from, To: to,
		Filters: map[string]string{"kind": in.Kind, "state": in.State, "plan": in.ContentPlanID},
	}
	if in.FactoryID != "" {
		q.Index, q.Partition = store.ByParent, parentPartition(p.Account, string(p.Mode), in.FactoryID)
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Item, error) {
		r, err := decode(&it)
		if err != nil {
			return Item{}, err
		}
		return r.view(ctx, s.signer)
	})
}

func (s *Service) get(ctx context.Context, in *itemID) (Item, error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return Item{}, err
	}
	return r.view(ctx, s.signer)
}

func (s *Service) create(ctx context.Context, in *createInput) (httpapi.Change[Item], error) {
	none := httpapi.Change[Item]{}
	p, now := auth.FromContext(ctx), s.now()
	if err := in.Body.check(p.Mode); err != nil {
		return none, err
	}
	f, _, err := s.factories.Find(ctx, in.Body.FactoryID)
	if err != nil {
		return none, err
	}
	r, err := s.newRecord(in.Body, f, p.Mode, now)
	if err != nil {
		return none, err
	}
	if p.Mode == auth.Live {
		// The sandbox is the one provider that is connected. Mock media must never
		// pass for live content, so live work is refused before it is accepted.
		return none, errs.New(errs.ProviderUnavailable, "No generation provider is connected for live keys yet. Use a test key; nothing was created or spent.")
	}
	work, err := r.accepted(p, s.offer)
	if err != nil {
		return none, err
	}
	tx := &store.Tx{}
	if r.Ticket, err = engine.Accept(tx, now, work, ledger.Balance{}); err != nil {
		return none, err
	}
	it, err := r.entry(p.Account, string(p.Mode))
	if err != nil {
		return none, err
	}
	tx.Create(it, nil)
	v, err := r.view(ctx, s.signer)
	return httpapi.Change[Item]{Data: v, Tx: tx}, err
}

// check refuses what does not fit the kind or the key.
func (b *createBody) check(mode auth.Mode) error {
	switch {
	case strings.TrimSpace(b.Prompt) == "":
		return errs.Invalid("/prompt", "must say what it is to be about")
	case b.Sandbox != nil && mode != auth.Test:
		return errs.Invalid("/sandbox", "works with a test key only; leave it out for live work")
	case b.Format != "" && b.Kind != Video:
		return errs.Invalid("/format", "is for kind video only")
	case b.Slides != nil && b.Kind != Carousel:
		return errs.Invalid("/slides", "are for kind carousel only")
	}
	return b.Metadata.Check()
}

// newRecord makes the item that a body asks for in a factory's voice.
func (s *Service) newRecord(b createBody, f factory.Factory, mode auth.Mode, now time.Time) (*record, error) {
	r := &record{
		Item: Item{
			Resource:  httpapi.NewResource(id.New(id.ContentItem, now), now, b.Metadata),
			FactoryID: f.ID, Kind: b.Kind, Prompt: b.Prompt, Title: b.Title, Caption: b.Caption, Hashtags: []string{},
			Slides: []Slide{}, SocialAccountIDs: []string{}, State: Queued, Attempt: 1,
		},
		Sandbox: b.Sandbox, Accepted: now,
	}
	for _, h := range b.Hashtags {
		r.Hashtags = append(r.Hashtags, string(h))
	}
	var err error
	if r.Language, err = factory.Language(b.Language, f.Language); err != nil {
		return nil, err
	}
	modelKind := string(b.Kind.modelKind())
	if r.Model, err = s.offer.Choose(modelKind, b.Model, f.Models[modelKind], mode == auth.Live); err != nil {
		return nil, err
	}
	switch b.Kind {
	case Video:
		r.Format = &b.Format
		if b.Format == "" {
			short := FormatShort
			r.Format = &short
		}
	case Carousel:
		for _, slide := range b.Slides {
			r.Slides = append(r.Slides, Slide{Text: slide.Text})
		}
		if b.Slides == nil {
			r.Slides = make([]Slide, defaultSlides)
		}
	}
	return r, nil
}
