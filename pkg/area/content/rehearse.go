package content

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/rehearsal"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// rehearse ends a rehearsal of a batch, whose items have filled a transaction. shown are those that were accepted.
func (a *acceptance) rehearse(ctx context.Context, tx, filled *store.Tx, shown batch) (out batch, err error) {
	for i, r := range a.records {
		b := a.refs.derived(a.bodies[i])
		if r == nil {
			out = append(out, refusedItem(b, a.now))
			a.terms.Add(rehearsal.Item{Kind: string(b.Kind), Models: []rehearsal.Model{},
				Publications: []rehearsal.Publication{}}, "", "")
			continue
		}
		out, shown = append(out, shown[0]), shown[1:]
		one := itemOf(r)
		if b.PublishAt != nil && !b.PublishAt.Next { // also of an item whose schedule is refused
			one.PublishAt = &b.PublishAt.Time
		}
		f := a.refs.factories[b.FactoryID]
		if b.PublishAt != nil || f.AutoPublish {
			accounts := b.Accounts
			if len(accounts) == 0 {
				accounts = f.SocialAccountIDs
			}
			one.Publications, err = validator{a.Service}.foretell(ctx, a.refs.owner, r, accounts, b.Options,
				one.PublishAt)
			if err != nil {
				return nil, err
			}
		}
		a.terms.Add(one, "", r.Attempt.Made())
	}
	if filled.Len() > maxWrites { // that it is too large is noted, and the table takes no such transaction
		filled = &store.Tx{}
	}
	out[0].Rehearsal, err = a.terms.Close(ctx, a.db, tx, filled, a.refs.owner)
	return out, err
}

// refusedItem stands for a body that is refused before there is an item of it.
func refusedItem(b createBody, now time.Time) item.Item {
	return item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, b.Metadata), FactoryID: b.FactoryID,
		Kind: b.Kind, Source: cmp.Or(b.Source, item.SourceGenerated), Texts: item.Texts{Hashtags: []string{}},
		Content: item.Content{Prompt: b.Prompt, Scenes: []item.Scene{}}, Warnings: []item.Warning{},
		Hooks: []string{}, Slides: []item.Slide{}, Retold: item.Retold{FromParts: []int{}},
		Outlook: item.Outlook{WaitsFor: item.WaitsForNothing, SocialAccountIDs: []string{},
			OmittedAccounts: []item.OmittedAccount{}},
		Publications: []item.Publication{}, Sources: []item.Quoted{}, State: item.Queued, Attempt: 1,
		Variants: map[string]item.Variant{}, Previews: []item.Preview{}, Media: []media.View{},
		Approval: approvalOf(factory.Factory{})}
}

// itemOf returns the item of a rehearsal that a record makes, without its publications.
func itemOf(r *item.Record) rehearsal.Item {
	i := rehearsal.Item{PublishAt: r.Item.PublishAt, Kind: string(r.Item.Kind), Format: r.Item.Format,
		Models:  []rehearsal.Model{},
		Credits: cmp.Or(r.Attempt.Credits, item.PlannerOf(r).LivePrice()), Publications: []rehearsal.Publication{}}
	for _, p := range r.Attempt.Parts {
		if p.Model != "" && p.Reuse == nil {
			i.Uses(string(p.Kind), p.Model)
		}
	}
	return i
}

// Rehearser rehearses items for the operations of other areas.
type Rehearser struct{ *Service }

// ItemOf returns the item of a rehearsal that a record makes, with its publications to accounts.
func (s Rehearser) ItemOf(ctx context.Context, o tenant.Owner, r *item.Record,
	accounts []string) (rehearsal.Item, error) {
	i := itemOf(r)
	var err error
	i.Publications, err = validator(s).foretell(ctx, o, r, accounts, nil, r.Item.PublishAt)
	return i, err
}

// foretell checks what an item, before it is generated, would publish on accounts at a time, or now.
func (s validator) foretell(ctx context.Context, o tenant.Owner, r *item.Record, accounts []string,
	options PlatformOptions, planned *resource.Time) ([]rehearsal.Publication, error) {
	c := candidate{Gate: publication.Gate{Record: r, By: auth.FromContext(ctx), Any: true}, owner: o,
		options: options}
	var err error
	if c.At, err = s.clock(ctx); err != nil {
		return nil, err
	}
	if planned != nil && planned.After(c.At) {
		c.At, c.Any = planned.Time, false
	}
	var v Validation
	if err := s.check(ctx, &v, c, accounts); err != nil {
		return nil, err
	}
	all := []rehearsal.Publication{}
	for _, c := range v.Accounts {
		p := rehearsal.Publication{SocialAccountID: c.SocialAccountID, Platform: c.Platform,
			Problems: []rehearsal.Problem{}}
		isMandate := func(p Problem) bool { return p.Code == string(publication.ReasonMandate) }
		if i := slices.IndexFunc(v.Problems, isMandate); i >= 0 { // of the time, which is that of each publication
			c.Problems = append([]Problem{v.Problems[i]}, c.Problems...)
		}
		for _, problem := range c.Problems {
			p.Problems = append(p.Problems, rehearsal.Problem{Code: problem.Code, Param: problem.Param,
				Message: problem.Message})
		}
		if c.Preview != nil && (r.Item.Provided() || r.Given.Has(item.Caption)) {
			p.Preview = &rehearsal.Preview{Title: c.Preview.Title, Caption: resource.Text(c.Preview.Text)}
		}
		all = append(all, p)
	}
	return all, err
}

// Rehearse rehearses a body of createContentItem, a parsed JSON value. It checks the body as Check does, with its
// refusals noted in the terms, where place names it. The item is nil if there is none of the body.
func (s Rehearser) Rehearse(ctx context.Context, terms *quote.Terms, body any,
	place func(error) error) (*rehearsal.Item, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return nil, terms.Meet(place(err))
	}
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, b)
	if err != nil {
		return nil, terms.Meet(place(err))
	}
	refs.met = func(err error) error { return terms.Meet(place(errs.Below("/body", err))) }
	r, err := s.accepted(ctx, p, b, refs, p.Mode, s.now())
	if err != nil {
		return nil, refs.met(err)
	}
	var accounts []string
	if f := refs.factories[b.FactoryID]; f.AutoPublish {
		accounts = f.SocialAccountIDs
	}
	i, err := s.ItemOf(ctx, refs.owner, r, accounts)
	return &i, err
}
