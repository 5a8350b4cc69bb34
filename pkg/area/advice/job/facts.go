package job

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// page is the number of items that are read in one round trip.
const page = 100

// facts reads the factory's newest items for a diagnosis. Nothing reports the figures of
// posts yet.
func (w *Worker) facts(ctx context.Context, o tenant.Owner, f factory.Factory) (diagnosis.Facts, error) {
	facts := diagnosis.Facts{Now: w.Now(), Factory: settingsOf(f)}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(o, f.ID),
		From: id.First(id.ContentItem, facts.Now.Add(-diagnosis.Window)), Limit: page,
	}
	for len(facts.Items) < diagnosis.MaxItems {
		read, err := w.DB.List(ctx, q)
		if err != nil {
			return facts, err
		}
		for _, it := range read.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return facts, err
			}
			facts.Items = append(facts.Items, itemOf(r))
		}
		if q.After = read.Next; q.After == nil {
			break
		}
	}
	facts.Items = facts.Items[:min(len(facts.Items), diagnosis.MaxItems)]
	return facts, nil
}

func settingsOf(f factory.Factory) diagnosis.Factory {
	d := diagnosis.Factory{
		CreatedAt: f.CreatedAt.Time, Active: f.State == factory.StateActive,
		Description: f.Description, Audience: f.Audience, Tone: f.Tone, ContentTypes: f.ContentTypes,
	}
	for _, topic := range f.Topics {
		d.Topics = append(d.Topics, string(topic))
	}
	if f.Schedule != nil {
		d.Times = len(f.Schedule.Times)
		d.Zone, _ = time.LoadLocation(f.Schedule.Timezone) // it was checked when it was set
	}
	for _, account := range f.SocialAccountIDs {
		d.Accounts = append(d.Accounts, diagnosis.Account{ID: account})
	}
	return d
}

func itemOf(r *item.Record) diagnosis.Item {
	it := diagnosis.Item{
		Kind: string(r.Kind), State: string(r.State), Caption: r.Caption, Hashtags: r.Hashtags,
		Accounts:  r.SocialAccountIDs,
		CreatedAt: r.CreatedAt.Time, MadeAt: timeOf(r.GeneratedAt), PublishAt: timeOf(r.PublishAt),
	}
	if r.Failure != nil {
		it.Failure = string(r.Failure.Code)
	}
	return it
}

// timeOf returns a time that may be missing, as the zero time if it is.
func timeOf(t *resource.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
