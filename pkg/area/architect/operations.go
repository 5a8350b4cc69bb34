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
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/profile"
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

type createBody struct {
	profile.ProfileMember
	// Factory that the chat is about. Absent: none yet.
	FactoryID string `json:"factory_id,omitempty" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Title. Absent: the beginning of the first message.
	Title string `json:"title,omitempty" format:"line-not-blank" maxLength:"100" example:"Our autumn campaign"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only the draft with this id.
	ID string `query:"id" example:"drf_01h455vb4pex5vsknk084sn02q"`
	// Only drafts about this factory.
	FactoryID string `query:"factory_id" filter:"factory"`
	// Only drafts of this chat.
	ChatID string `query:"chat_id"`
	// Only drafts of these kinds, separated by commas.
	Kind []Subject `query:"kind" filter:"kind" format:"draft-kind" nullable:"false"`
	// Only drafts in these states, separated by commas.
	State []State `query:"state" filter:"state" enum:"open,applied,discarded" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.Create(r, s.chats, httpapi.Op{ID: "createChat", Summary: "Begin a chat",
		Description: "A chat with an assistant that helps to set up factories, content plans and content items. It " +
			"answers questions about your factories, and makes drafts, which you apply.",
		Opens: httpapi.Nothing, Errors: []errs.Code{errs.NotFound, errs.InvalidState}}, s.opened, shown)
	kind.Get(r, s.chats, httpapi.Op{ID: "getChat", Summary: "Get a chat",
		Description: "Returns the chat with all its messages. A reply needs the scopes that it was made with; " +
			"without them its text is left out."}, shown)
	s.registerSend(r)
	httpapi.List(r, s.drafts.Op(httpapi.Op{ID: "listDrafts", Summary: "List the drafts",
		Description: "Newest first. Those of factories and content plans need the scope factories:read as well, " +
			"those of content items content:read; without it they are left out."},
		http.MethodGet, "/v1/architect/drafts"), s.list)
	s.registerDrafts(r)
}

// shown returns a chat as the caller sees it.
func shown(ctx context.Context, f *kind.Found[Record]) (Chat, error) {
	return f.Record.View(auth.FromContext(ctx)), nil
}

// opened gives a new chat the profile of its factory, if it has one.
func (s *Service) opened(ctx context.Context, tx *store.Tx, c *kind.Change[Record, *createBody]) (err error) {
	c.Record.Messages = []Message{}
	var b createBody
	if *c.Body != nil {
		b = **c.Body
	}
	if b.FactoryID != "" {
		// Whether there is such a factory is no business of a key that may not read it.
		p := auth.FromContext(ctx)
		if err := p.Require(auth.FactoriesRead, "/factory_id"); err != nil {
			return err
		}
		of, _, err := s.factories.Find(ctx, b.FactoryID)
		if err != nil {
			return errs.At("/factory_id", err)
		}
		if b.ProfileID != "" && p.Owner.Of(tenant.Profile(b.ProfileID)) != of.In(p.Owner) {
			return errs.Invalid("/profile_id", "is not that of the factory")
		}
		b.ProfileID = string(of.In(p.Owner).Profile)
	}
	if b.FactoryID == "" || b.ProfileID != "" {
		c.Item.Owner, err = b.ProfileMember.Owner(ctx, tx, c.Now)
	}
	c.Record.ProfileID = c.Item.Owner.ProfileID()
	return err
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Draft], error) {
	if in.Kind = readable(auth.FromContext(ctx), in.Kind); len(in.Kind) == 0 {
		return httpapi.Page[Draft]{Items: []Draft{}}, nil
	}
	show := func(_ context.Context, f *kind.Found[Draft]) (Draft, error) { return *f.Record, nil }
	return kind.Page(ctx, s.drafts, in, show, func(ctx context.Context, in *listInput, q *store.Query) error {
		if in.ChatID != "" {
			q.Index, q.Partition = store.ByParent, Partition(auth.FromContext(ctx).Owner, in.ChatID)
		}
		return httpapi.Only(q, id.Draft, "a draft", in.ID)
	})
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
