package advice

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// extremes is the number of the best and of the worst texts that a model sees.
const extremes = 5

// page is the number of items that are read in one round trip.
const page = 100

// facts reads the factory's social accounts and its newest items for a diagnosis, and returns the items, too.
func (w *Worker) facts(ctx context.Context, o tenant.Owner, f factory.Factory) (facts Facts,
	made []*item.Record, err error) {
	facts = Facts{Now: w.Now(), Factory: settingsOf(f)}
	if facts.Factory.Accounts, err = w.accounts(ctx, o, f.SocialAccountIDs); err != nil {
		return facts, nil, err
	}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(o, f.ID),
		From: id.First(id.ContentItem, facts.Now.Add(-Window)), Limit: page,
	}
	for len(facts.Items) < MaxItems {
		read, err := item.List(ctx, w.DB, q)
		if err != nil {
			return facts, nil, err
		}
		for _, r := range read.Records {
			facts.Items, made = append(facts.Items, itemOf(r)), append(made, r)
			facts.Posts = append(facts.Posts, postsOf(r, facts.Factory.Topics)...)
		}
		if q.After = read.Next; q.After == nil {
			break
		}
	}
	facts.Items = facts.Items[:min(len(facts.Items), MaxItems)]
	earlier, err := w.earlier(ctx, o, facts, made)
	facts.Posts = append(facts.Posts, earlier...)
	return facts, made, err
}

// earlier returns the imported posts of the accounts of a factory, without those that the service has published.
func (w *Worker) earlier(ctx context.Context, o tenant.Owner, facts Facts, made []*item.Record) (all []Post,
	err error) {
	own := map[string]bool{}
	for _, r := range made {
		for _, pub := range r.Item.Publications {
			if pub.PlatformPostID != nil {
				own[pub.Platform+" "+*pub.PlatformPostID] = true
			}
		}
	}
	from := facts.Now.Add(-Window)
	var ids []string
	for _, a := range facts.Factory.Accounts {
		ids = append(ids, a.ID)
	}
	known, err := social.Past(ctx, w.DB, o, from, facts.Now, ids...)
	if err != nil {
		return nil, err
	}
	for _, a := range facts.Factory.Accounts {
		for _, p := range known[a.ID] {
			if p.Views == nil || p.At.Before(from) || own[a.Platform+" "+p.ID] {
				continue
			}
			all = append(all, Post{Platform: a.Platform, Kind: string(p.Kind), PublishedAt: p.At, Views: int(*p.Views),
				Topics: topicsIn(p.Text, facts.Factory.Topics), Reactions: int(item.Counts(p.Metrics).Reactions())})
		}
	}
	return all, nil
}

// topicsIn returns the topics that a text names.
func topicsIn(text string, topics []string) []string {
	text = strings.ToLower(text)
	return slices.DeleteFunc(slices.Clone(topics),
		func(topic string) bool { return !strings.Contains(text, strings.ToLower(topic)) })
}

func settingsOf(f factory.Factory) Factory {
	d := Factory{
		CreatedAt: f.CreatedAt.Time, Active: f.State == factory.StateActive,
		Description: string(f.Description), Audience: string(f.Audience), Tone: string(f.Tone),
		ContentTypes: f.ContentTypes,
	}
	for _, topic := range f.Topics {
		d.Topics = append(d.Topics, string(topic))
	}
	if f.Schedule != nil {
		d.Times = len(f.Schedule.Times)
		d.Zone, _ = time.LoadLocation(f.Schedule.Timezone) // it was checked when it was set
	}
	return d
}

// accounts reads the social accounts of a factory.
func (w *Worker) accounts(ctx context.Context, o tenant.Owner, ids []string) (all []Account, err error) {
	items, err := w.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if !social.Is(it, o) {
			continue // it is being deleted
		}
		a, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, Account{ID: ids[i], Platform: a.Platform, Handle: string(a.Handle),
			Lost: a.State == social.NeedsReconnect || a.State == social.Disconnected})
	}
	return all, nil
}

// postsOf returns the posts of an item that the platforms have reported figures of.
func postsOf(r *item.Record, topics []string) (all []Post) {
	topics = topicsIn(r.Item.Prompt+" "+string(r.Item.Caption), topics)
	for _, p := range r.Item.Publications {
		if m := p.Metrics; p.PublishedAt != nil && m != nil && m.Views != nil {
			all = append(all, Post{Platform: p.Platform, Kind: string(r.Item.Kind), Topics: topics,
				PublishedAt: p.PublishedAt.Time, Views: int(*m.Views), Reactions: int(m.Reactions())})
		}
	}
	return all
}

func itemOf(r *item.Record) Item {
	it := Item{
		Kind: string(r.Item.Kind), State: string(r.Item.State), Caption: string(r.Item.Caption),
		Hashtags:  r.Item.Hashtags,
		Accounts:  r.Item.SocialAccountIDs,
		CreatedAt: r.Item.CreatedAt.Time, MadeAt: r.Item.GeneratedAt.OrZero(), PublishAt: r.Item.PublishAt.OrZero(),
	}
	if r.Item.Failure != nil {
		it.Failure = string(r.Item.Failure.Code)
	}
	for _, p := range r.Item.Publications {
		switch {
		case p.State == item.PublicationFailed && p.Failure != nil:
			it.Publications = append(it.Publications,
				Publication{At: p.UpdatedAt.Time, Failure: p.Failure.Code})
		case p.State == item.PublicationPublished && p.PublishedAt != nil:
			it.Publications = append(it.Publications, Publication{At: p.PublishedAt.Time})
		}
	}
	return it
}
