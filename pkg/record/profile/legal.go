package profile

import (
	"context"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Legal are the settings of a factory or a profile that decide which rules of law apply. Embed it.
type Legal struct {
	// Country in which the content is published (ISO 3166-1). The content must keep the rules of law of this country;
	// members of the European Union have its rules. Null: that of the profile, or else none, and no rule is checked.
	Region *string `json:"region" example:"DE"`
	// Marking of advertising, for countries that require it. What has one is advertising. Null: that of the profile, or
	// else none.
	AdMarking *AdMarking `json:"ad_marking"`
}

// AdMarking is the marking of advertising for readers and authorities.
type AdMarking struct {
	// Who advertises, as the register of advertising has the name.
	Advertiser string `json:"advertiser" format:"line-not-blank" minLength:"1" maxLength:"200" example:"ООО «Ромашка»"`
	// Taxpayer number (INN): 10 digits of a company, 12 of a person.
	TaxID string `json:"tax_id" minLength:"10" maxLength:"12" example:"7707083893"`
	// Identifier of the advertising, which an operator of advertising data assigns. Absent or empty: not assigned yet.
	ERID string `json:"erid,omitempty" maxLength:"64" example:"2VtzqxKFvxM"`
}

// AdMarkingPatch is the marking of advertising in a merge patch.
type AdMarkingPatch struct {
	// The schema of the type takes null, which removes the marking.
	_ struct{} `nullable:"true"`
	// Who advertises, as the register of advertising has the name.
	Advertiser string `json:"advertiser,omitempty" format:"line-not-blank" minLength:"1" maxLength:"200"`
	// Taxpayer number (INN): 10 digits of a company, 12 of a person.
	TaxID string `json:"tax_id,omitempty" minLength:"10" maxLength:"12"`
	// Identifier of the advertising. Null or empty: not assigned yet.
	ERID *string `json:"erid,omitempty" maxLength:"64" nullable:"true"`
}

// Or returns the settings with those of another in the place of what is missing.
func (l Legal) Or(other Legal) Legal {
	if l.Region == nil {
		l.Region = other.Region
	}
	if l.AdMarking == nil {
		l.AdMarking = other.AdMarking
	}
	return l
}

// Country returns the region, or an empty text if there is none.
func (l Legal) Country() string {
	if l.Region == nil {
		return ""
	}
	return *l.Region
}

// Completed returns the settings of a factory of the owner, with those of its profile in the place of what is missing.
// It reads the profile only if that may have an effect.
func (l Legal) Completed(ctx context.Context, db *store.DB, o tenant.Owner) (Legal, error) {
	if o.Profile == "" || l.Region != nil && l.AdMarking != nil {
		return l, nil
	}
	found, err := db.Lookup(ctx, store.IDKey(string(o.Profile)))
	if err != nil || found.Kind != Kind || found.Owner != o {
		return l, err
	}
	r, err := Decode(&found)
	return l.Or(r.Legal), err
}

// LegalOf returns the settings of the item of a factory, completed by those of its profile.
func LegalOf(ctx context.Context, db *store.DB, factory store.Item) (l Legal, err error) {
	if err := factory.Decode(&l); err != nil {
		return l, err
	}
	return l.Completed(ctx, db, factory.Owner)
}
