package item

import (
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

// FactsOf returns what rules of law read of a publication of the item at a time, or of the item alone if the
// publication has no platform.
func FactsOf(r *Record, pub *Publication, at time.Time) law.Facts {
	then, when := *r, resource.Instant(at)
	then.Item.PublishAt = &when
	words := then.Words(pub.Platform, pub.SocialAccountID)
	return law.Facts{Region: r.Brief.Region, At: at, Platform: pub.Platform, Param: "/social_account_ids",
		Advertising: r.Item.AdMarking != nil || r.Item.PromotionID != nil || pub.Options.advertises(),
		Marked:      law.MarkingOf(r.Item.AdMarking),
		Generated:   !r.Item.Provided(), Informs: r.Brief.Type == newsType, Reviewed: reviewed(r),
		Disclosed: strings.Contains(string(words.Caption), law.Disclosure(r.Item.Language)),
		Reduction: r.Brief.Product.reduction(),
		DeepFake:  r.Item.DeepFake, Labelled: r.Item.Labelled || drawsLabel(&then) && r.Item.GeneratedAt == nil,
	}
}

// Obey has an item follow the rules of the region of its factory, whose settings are given. An item without a marking
// of advertising takes that of the factory.
func Obey(r *Record, l profile.Legal) {
	r.Brief.Region = l.Country()
	if r.Item.AdMarking == nil {
		r.Item.AdMarking = l.AdMarking
	}
}

// Reprice computes the lawful prior price of the promotion that an item announces anew, from its product as it is now.
func Reprice(r *Record, now *product.StoredProduct) {
	if p := r.Brief.Product; p != nil && p.Promotion != nil && now.ID == p.ProductID {
		p.Prior = now.Prior(*p.Promotion)
	}
}
