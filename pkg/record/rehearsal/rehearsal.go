// Package rehearsal has what the rehearsal of a call answers: what the call would make, cost and publish, and why it
// would be refused. Start with Rehearsal.
package rehearsal

import (
	"errors"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
)

// Keep is the time for which a rehearsal is kept.
const Keep = 7 * 24 * time.Hour

// Rehearsal is what a call would make, cost and publish. Nothing else of the call exists.
type Rehearsal struct {
	// Id of the rehearsal, for `POST /v1/quotes`.
	ID string `json:"id" example:"rhl_01h455vb4pex5vsknk084sn02q"`
	// Time at which the call was rehearsed.
	CreatedAt resource.Time `json:"created_at"`
	// Time until which it can be quoted, 7 days after it.
	ExpiresAt resource.Time `json:"expires_at"`
	// Credits of all items together with a live key. Of an automation, of the items that are listed.
	Credits int64 `json:"credits" example:"260"`
	// Why the call would be refused. Empty: it would be accepted now.
	Refusals []Refusal `json:"refusals" nullable:"false"`
	// Each item, in the order of its creation. Of an automation at times, those of the next 7 days, at most 50; of one
	// of entries or products, one that stands for each.
	Items []Item `json:"items" nullable:"false"`
	// Each account that items are published on.
	Accounts []Account `json:"accounts" nullable:"false"`
}

// Refusal is a reason for which the call would be refused.
type Refusal struct {
	// Number of the item in the body, from 0. Null: the call as a whole.
	Item *int `json:"item_index"`
	// Machine-readable code of the error.
	Code errs.Code `json:"code"`
	// JSON pointer of the member at fault. Null if there is none.
	Param resource.Text `json:"param"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
}

// Item is one item that a rehearsed call would make.
type Item struct {
	// Time of its publication. Null: it is not planned for a time.
	PublishAt *resource.Time `json:"publish_at"`
	// Kind of content that the item is.
	Kind string `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Format of a video: short or long. Null for other kinds.
	Format *string `json:"format" enum:"short,long"`
	// Pillar of a content plan that it belongs to. Null: none.
	Pillar resource.Text `json:"pillar"`
	// Models that make it. Empty: nothing is generated.
	Models []Model `json:"models" nullable:"false"`
	// Credits that it costs with a live key, at most.
	Credits int64 `json:"credits" example:"26"`
	// Accounts on which it is published at its time: by itself with `auto_publish` of the factory, or a `publish_at` of
	// its own, or else once it is scheduled.
	Publications []Publication `json:"publications" nullable:"false"`
}

// Model is a model that makes a part of an item.
type Model struct {
	// Kind of the part that it makes.
	Task string `json:"task" enum:"text,image,video,music,voice,avatar" example:"image"`
	// Id of the model, as in the catalog.
	Model string `json:"model" example:"nano-banana-2"`
}

// Publication is the publication of an item on an account.
type Publication struct {
	// Social account that it is published on.
	SocialAccountID string `json:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// Its platform. Null if there is no such account.
	Platform *string `json:"platform" example:"instagram"`
	// What would keep it from being published there, as far as it is known before it is generated. Empty: nothing.
	Problems []Problem `json:"problems" nullable:"false"`
	// What is published, as its platform arranges it, as far as the body has its texts. Null: nothing is known yet.
	Preview *Preview `json:"preview"`
}

// Preview are the known texts of a publication.
type Preview struct {
	// Title. Null where the platform has none, or it is to be written.
	Title resource.Text `json:"title"`
	// Text, with the hashtags where they belong to it. Null: it is to be written.
	Caption resource.Text `json:"caption"`
}

// Problem is a reason for which a publication would be refused, or fail.
type Problem struct {
	// Machine-readable reason, as in the result of `POST /v1/publishing/validate`.
	Code string `json:"code" example:"account"`
	// JSON pointer of the member at fault. Null if there is none.
	Param resource.Text `json:"param"`
	// What is wrong, and what to do about it.
	Message string `json:"message"`
}

// Account is an account on which items are published.
type Account struct {
	// Social account that items are published on.
	SocialAccountID string `json:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// Platform that the account is of.
	Platform string `json:"platform" example:"instagram"`
	// Number of its publications without a problem.
	Publications int `json:"publication_count"`
	// Time of the first of them. Null: none has a time.
	FirstAt *resource.Time `json:"first_at"`
	// Time of the last of them. Null: none has a time.
	LastAt *resource.Time `json:"last_at"`
}

// Uses adds a model that makes a part of the item, once for each task.
func (i *Item) Uses(task, model string) {
	if m := (Model{task, model}); !slices.Contains(i.Models, m) {
		i.Models = append(i.Models, m)
	}
}

// New returns a rehearsal of a time, without items and refusals.
func New(now time.Time) *Rehearsal {
	return &Rehearsal{ID: id.New(id.Rehearsal, now), CreatedAt: resource.Instant(now),
		ExpiresAt: resource.Instant(now.Add(Keep)), Refusals: []Refusal{}, Items: []Item{}, Accounts: []Account{}}
}

// Add adds an item, with its publications to the accounts.
func (r *Rehearsal) Add(i Item) {
	r.Items = append(r.Items, i)
	r.Credits += i.Credits
	for _, p := range i.Publications {
		if p.Platform == nil || len(p.Problems) > 0 {
			continue
		}
		n := slices.IndexFunc(r.Accounts, func(a Account) bool { return a.SocialAccountID == p.SocialAccountID })
		if n < 0 {
			n = len(r.Accounts)
			r.Accounts = append(r.Accounts, Account{SocialAccountID: p.SocialAccountID, Platform: *p.Platform})
		}
		a := &r.Accounts[n]
		if a.Publications++; i.PublishAt == nil {
			continue
		}
		if a.FirstAt == nil || i.PublishAt.Before(a.FirstAt.Time) {
			a.FirstAt = i.PublishAt
		}
		if a.LastAt == nil || i.PublishAt.After(a.LastAt.Time) {
			a.LastAt = i.PublishAt
		}
	}
}

// Refuse notes why the call would be refused; number is that of the item in the body, or nil. It returns errors that
// callers do not see, and those that say nothing about the call, unchanged.
func (r *Rehearsal) Refuse(err error, number *int) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Code == errs.ProviderUnavailable || e.Code == errs.Timeout || e.Code == errs.Internal {
		return err
	}
	details := e.Details
	if details == nil {
		details = []errs.Detail{{Param: e.Param, Message: e.Message}}
	}
	for _, d := range details {
		said := func(o Refusal) bool {
			return string(o.Param) == d.Param && o.Message == d.Message && resource.Equal(o.Item, number)
		}
		if !slices.ContainsFunc(r.Refusals, said) {
			r.Refusals = append(r.Refusals, Refusal{number, e.Code, resource.Text(d.Param), d.Message})
		}
	}
	return nil
}
