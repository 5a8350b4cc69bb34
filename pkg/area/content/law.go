package content

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// ruler finds which rules of law apply, and refuses what violates them.
type ruler struct{ *Service }

// openLegal reads which rules of law apply to the factories of bodies.
func (s ruler) openLegal(ctx context.Context, o tenant.Owner, a *references) (err error) {
	a.legal = map[string]profile.Legal{}
	for factoryID, f := range a.factories {
		if a.legal[factoryID], err = f.Legal.Completed(ctx, s.db, f.In(o)); err != nil {
			return err
		}
	}
	return nil
}

// obey has an item follow the rules of the region that its factory has now, as Obey of package publication does. It
// reads other items with the factory.
func (s ruler) obey(ctx context.Context, r *item.Record, others ...store.Key) (f factory.Factory, beside []store.Item,
	err error) {
	it, beside, err := publication.Obey(ctx, s.db, auth.FromContext(ctx).Owner, r, others...)
	if err != nil || it.PK == "" {
		return f, beside, err
	}
	f, err = factory.Decode(&it)
	return f, beside, err
}

// lawful refuses a new item that violates a rule of law wherever it is published. Of an item that is published
// automatically, the accounts of its factory are known: one of them must be permitted.
func (s ruler) lawful(ctx context.Context, r *item.Record, accounts []string, at time.Time) error {
	if err := law.Refused(law.Check(item.FactsOf(r, &item.Publication{}, at))); err != nil || !r.Automatic {
		return err
	}
	return s.permitted(ctx, r, accounts, at)
}

// permitted refuses advertising that none of the accounts may publish. It reads them only if that can be.
func (s ruler) permitted(ctx context.Context, r *item.Record, accounts []string, at time.Time) (refused error) {
	if r.AdMarking == nil && r.PromotionID == nil || !law.RuleOf(law.AdPlatforms).InForce(r.Brief.Region, at) {
		return nil
	}
	items, err := s.db.GetAll(ctx, store.IDKeys(accounts)...)
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.Kind != social.Kind {
			continue
		}
		pub := item.Publication{Platform: it.Filters["platform"], SocialAccountID: it.PK}
		if refused = law.Refused(law.Check(item.FactsOf(r, &pub, at))); refused == nil {
			return nil
		}
	}
	return refused
}

// Permitted refuses the items of a plan if they are advertising that none of the accounts of the factory may publish.
func Permitted(ctx context.Context, db *store.DB, r *item.Record, f factory.Factory, at time.Time) error {
	return ruler{&Service{db: db}}.permitted(ctx, r, f.SocialAccountIDs, at)
}
