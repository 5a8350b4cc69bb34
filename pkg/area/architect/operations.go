package architect

import (
	"context"
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("draft-kind", format.Format{
		Values: format.Words("factory content_plan content_item factory_change content_item_change")})
	_ = format.Define("chat-outcome", format.Format{
		Values: format.Words("replied timeout provider_unavailable insufficient_balance spend_limit_reached " +
			"rate_limited")})
	_ = format.Define("chat-text", format.Format{Shortest: 1, Longest: 4000,
		Example: "A seller factory for running shoes in German, two posts a day"})
)

// ChatPath is the part of the path that names a chat.
type ChatPath struct {
	// Id of the chat.
	ID string `path:"chat_id" example:"cht_01h455vb4pex5vsknk084sn02q"`
}

// DraftPath is the part of the path that names a draft.
type DraftPath struct {
	// Id of the draft.
	ID string `path:"draft_id" example:"drf_01h455vb4pex5vsknk084sn02q"`
}

type createBody struct {
	profile.Given
	// Factory that the chat is about. Absent: none yet.
	FactoryID string `json:"factory_id,omitempty" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Title. Absent: the beginning of the first message.
	Title string `json:"title,omitempty" format:"line-not-blank" maxLength:"100" example:"Our autumn campaign"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type createInput struct{ Body *createBody }

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only the draft with this id.
	ID string `query:"id" example:"drf_01h455vb4pex5vsknk084sn02q"`
	// Only drafts about this factory.
	FactoryID string `query:"factory_id"`
	// Only drafts of this chat.
	ChatID string `query:"chat_id"`
	// Only drafts of these kinds, separated by commas.
	Kind []Subject `query:"kind" format:"draft-kind" nullable:"false"`
	// Only drafts in these states, separated by commas.
	State []State `query:"state" enum:"open,applied,discarded" nullable:"false"`
}

func op(id, method, path, summary, description string) httpapi.Op {
	return httpapi.Op{
		ID: id, Method: method, Path: "/v1/architect/" + path, Scope: auth.ArchitectUse, Function: "architect",
		Tag:     "Architect",
		Summary: summary, Description: description,
	}
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	create := op("createChat", http.MethodPost, "chats", "Begin a chat",
		"A chat with an assistant that helps to set up factories, content plans and content items. It answers "+
			"questions about your factories, and makes drafts, which you apply.").Opening(httpapi.Nothing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, create, s.create)
	httpapi.Read(r, op("getChat", http.MethodGet, "chats/{chat_id}", "Get a chat",
		"Returns the chat with all its messages. A reply needs the scopes that it was made with; without them its "+
			"text is left out.").Opening(httpapi.Nothing), s.get)
	s.registerSend(r)

	list := op("listDrafts", http.MethodGet, "drafts", "List the drafts", "Newest first. Those of factories and "+
		"content plans need the scope factories:read as well, those of content items content:read; without it they "+
		"are left out.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)
	s.registerDrafts(r)
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Chat, err error) {
	b, now := createBody{}, s.now()
	if in.Body != nil {
		b = *in.Body
	}
	r := &Record{Chat: Chat{Resource: resource.New(id.New(id.Chat, now), now, b.Metadata),
		Title:    resource.Text(b.Title),
		Messages: []Message{}}}
	p := auth.FromContext(ctx)
	if b.FactoryID != "" {
		// Whether there is such a factory is no business of a key that may not read it.
		if err := p.Require(auth.FactoriesRead, "/factory_id"); err != nil {
			return out, err
		}
		of, _, err := s.factories.Find(ctx, b.FactoryID)
		if err != nil {
			return out, at("/factory_id", err)
		}
		if b.ProfileID != "" && p.Owner.Of(tenant.Profile(b.ProfileID)) != of.In(p.Owner) {
			return out, errs.Invalid("/profile_id", "is not that of the factory")
		}
		r.FactoryID, b.ProfileID = &b.FactoryID, string(of.In(p.Owner).Profile)
	}
	o := p.Owner
	if b.FactoryID == "" || b.ProfileID != "" {
		if o, err = b.Given.Owner(ctx, tx, now); err != nil {
			return out, err
		}
	}
	r.ProfileID = o.ProfileID()
	it, err := r.Entry(o)
	quota.Chats.Take(tx, now, &it)
	tx.Create(it, nil)
	return r.View(p), err
}

func (s *Service) get(ctx context.Context, in *ChatPath) (out Chat, err error) {
	it, err := resource.Find(ctx, s.db, id.Chat, Kind, in.ID)
	if err != nil {
		return out, err
	}
	r, err := Decode(&it)
	if err != nil {
		return out, err
	}
	return r.View(auth.FromContext(ctx)), nil
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Draft], err error) {
	kinds := readable(auth.FromContext(ctx), in.Kind)
	if len(kinds) == 0 {
		return httpapi.Page[Draft]{Items: []Draft{}}, nil
	}
	q := httpapi.AllOwned(ctx, DraftKind, in.Filter.Into(map[string]string{
		SubjectFilter: httpapi.AnyOf(kinds), StateFilter: httpapi.AnyOf(in.State), factoryFilter: in.FactoryID,
	}))
	if in.ChatID != "" {
		q.Index, q.Partition = store.ByParent, Partition(auth.FromContext(ctx).Owner, in.ChatID)
	}
	if err := httpapi.Only(&q, id.Draft, "a draft", in.ID); err != nil {
		return page, err
	}
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput,
		func(it store.Item) (Draft, error) { return DraftOf(&it) })
}

// readable returns the requested kinds of drafts, or all if none are requested, as far as the caller may read them.
func readable(p *auth.Principal, asked []Subject) (kinds []Subject) {
	for _, kind := range Subjects {
		if p.Has(scopes[kind].read) && (len(asked) == 0 || slices.Contains(asked, kind)) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// at sets the place of an error about a missing member.
func at(param string, err error) error {
	if e := errs.As(err); e.Code == errs.NotFound {
		e.Param = param
		return e
	}
	return err
}
