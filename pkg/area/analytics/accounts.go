package analytics

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// AccountDay has the figures of a social account on a day.
type AccountDay struct {
	// Day, in UTC.
	Day string `json:"day" format:"date"`
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// Number of followers at the end of the day, or when they were read. Null: the platform does not have it.
	Followers *int64 `json:"followers"`
	// Followers who came on the day. Null: the platform does not have it.
	Gained *int64 `json:"followers_gained"`
	// Followers who went on the day. Null: the platform does not have it.
	Lost *int64 `json:"followers_lost"`
	// Number of posts of the account. Null: the platform does not have it.
	Posts *int64 `json:"posts"`
	// People who visited the page of the account on the day. Null: the platform does not have it.
	Visitors *int64 `json:"visitors"`
	item.Counts
}

type accountsInput struct {
	httpapi.SliceInput
	// Social account.
	AccountID string `query:"social_account_id" required:"true" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// First day, as 2026-11-01. Absent: 29 days before the last.
	From string `query:"from"`
	// Last day, included, as 2026-11-30. Absent: today, in UTC.
	To string `query:"to"`
}

// accountDays lists the figures of an account by day.
func (s *Service) accountDays(ctx context.Context, in *accountsInput) (page httpapi.Page[AccountDay], err error) {
	from, first := day("from", in.From)
	to, last := day("to", in.To)
	if err := errs.All(first, last); err != nil {
		return page, err
	}
	p := asked{from: from, to: to}.in(s.now().UTC())
	if err := p.check(); err != nil {
		return page, err
	}
	it, acct, months, err := s.account(ctx, in.AccountID, social.DaysKeys(in.AccountID, p.from, p.to)...)
	if err != nil {
		return page, err
	}
	days, err := social.Days(months, it.Owner, p.from, p.to)
	if err != nil {
		return page, err
	}
	all := make([]AccountDay, len(days))
	for i, d := range days {
		all[i] = show(acct, d)
	}
	return httpapi.Slice(ctx, all, map[string]string{"account": in.AccountID, "from": in.From, "to": in.To},
		in.SliceInput, func(d AccountDay) string { return d.Day })
}

func show(a social.Record, d platform.Day) AccountDay {
	return AccountDay{Day: d.Date.Format(time.DateOnly), SocialAccountID: a.ID, Platform: a.Platform,
		Followers: d.Followers, Gained: d.Gained, Lost: d.Lost, Posts: d.Posts, Visitors: d.Visitors,
		Counts: item.Counts(d.Metrics)}
}

// account reads a social account of the caller, and other items with it.
func (s *Service) account(ctx context.Context, accountID string, others ...store.Key) (it store.Item, r social.Record,
	beside []store.Item, err error) {
	it, beside, err = resource.FindWith(ctx, s.db, id.SocialAccount, social.Kind, accountID, others...)
	if err != nil {
		return it, r, nil, err
	}
	r, err = social.Decode(&it)
	return it, r, beside, err
}
