// Package profile has the profiles of an account, the clients of an agency, and decides what a new resource belongs to.
// The store holds a call within the profiles of its key: see tenant.Confine. Start with Record.
package profile

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of a profile's item.
const Kind = "profile"

// Profile is a profile as callers see it in lists.
type Profile struct {
	resource.Resource
	// Name of the client. The page by which its social accounts are connected shows it.
	Name string `json:"name" example:"Harbour Coffee"`
	// Id of the media with its logo, a picture, which that page shows. Null: none.
	Logo *string `json:"logo" example:"med_01h455vb4pex5vsknk084sn02q"`
	// Credits that the work for the profile may cost in a calendar month (UTC). Null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits"`
	// Credits of one call above which live work for the profile needs a `quote_id`. Null: it needs none.
	QuoteAbove *int64 `json:"quote_required_above_credits"`
	// Template of its factories that name none. Null: none.
	TemplateID *string `json:"template_id"`
	Legal
}

// Bounds returns what the work for the profile may cost.
func (p *Profile) Bounds() ledger.Bounds {
	return ledger.Bounds{Limit: p.SpendLimit, QuoteAbove: p.QuoteAbove}
}

// Record is the stored document of a profile.
type Record struct{ Profile }

// NameFilter is the name of the filter of lists by the folded name of a profile.
const NameFilter = "name"

// Fold returns a name as lists compare it: without commas, which separate the values of a filter, and in lower case.
func Fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, ",", " ")) }

// Describe returns the values by which lists filter profiles.
func (p Profile) Describe() map[string]string {
	all := p.Resource.Describe()
	all[NameFilter] = Fold(p.Name)
	return all
}

// Item returns the item of a new profile, which belongs to itself.
func (r *Record) Item(o tenant.Owner) (store.Item, error) {
	return store.NewItem(Kind, o.Of(tenant.Profile(r.ID)), r.ID, r)
}

// Decode reads the record of an item.
func Decode(it *store.Item) (r Record, err error) { return r, it.Decode(&r) }

// Filter is the query parameter that selects the resources of a profile. Embed it.
type Filter struct {
	// Returns only the resources of this profile.
	ProfileID string `query:"profile_id" filter:"profile" example:"prf_01h455vb4pex5vsknk084sn02q"`
}

// Into adds the filter to those of a list.
func (f Filter) Into(filters map[string]string) map[string]string {
	if filters == nil {
		filters = map[string]string{}
	}
	filters[store.ProfileFilter] = f.ProfileID
	return filters
}

// ProfileMember is the member of a body that names the profile of a new resource. Embed it.
type ProfileMember struct {
	// Profile that it belongs to. It cannot be changed. Absent: the account as a whole; with a key that is bound to one
	// profile, that one. A key that is bound to several must send it.
	ProfileID string `json:"profile_id,omitempty" example:"prf_01h455vb4pex5vsknk084sn02q"`
}

// In returns the owner of a resource that a caller would make, without any check.
func (g ProfileMember) In(caller tenant.Owner) tenant.Owner {
	if g.ProfileID == "" {
		return caller
	}
	return caller.Of(tenant.Profile(g.ProfileID))
}

// Owner returns the owner of a resource that the caller makes, and adds to the transaction that its profile exists. A
// caller that is bound to several profiles has to name one, and never another than its own.
func (g ProfileMember) Owner(ctx context.Context, tx *store.Tx, now time.Time) (tenant.Owner, error) {
	p := auth.FromContext(ctx)
	named := tenant.Profile(g.ProfileID)
	switch {
	case named == "" && !p.Bound():
		return p.Owner, nil
	case named == "" && len(p.Profiles) > 1:
		return p.Owner, errs.Invalid("/profile_id", "is required, because the API key is bound to several profiles: "+
			"one of %s", join(p.Profiles))
	case named == "":
		named = p.Profile
	}
	missing := errs.Missing(Kind, string(named))
	missing.Param = "/profile_id"
	if !id.Valid(id.Profile, string(named)) || p.Bound() && !slices.Contains(p.Profiles, named) {
		return p.Owner, missing
	}
	o := p.Owner.Of(named)
	ledger.Use(tx, now, o, missing)
	resource.Makes(ctx, resource.Concern{ProfileID: named})
	return o, nil
}

func join(profiles []tenant.Profile) string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// MaxLogo is the number of bytes that a logo may have: the page that shows it contains it.
const MaxLogo = 64 << 10

// Logo is the picture of a profile's logo.
type Logo struct {
	MIMEType string `json:"mime_type"`
	Picture  []byte `json:"picture"`
}

// Data returns the picture as a data URL, or an empty text without one.
func (l Logo) Data() string {
	if len(l.Picture) == 0 {
		return ""
	}
	return "data:" + l.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(l.Picture)
}

// LogoOf returns the logo of the owner's profile, or the zero Logo if it has none.
func LogoOf(ctx context.Context, db *store.DB, o tenant.Owner) (l Logo, err error) {
	it, err := db.Lookup(ctx, LogoKey(o))
	if err != nil || it.Kind == "" || it.Owner != o {
		return l, err
	}
	return l, it.Decode(&l)
}

// LogoKey returns the key of the logo of the owner's profile.
func LogoKey(o tenant.Owner) store.Key {
	return store.IDKey("logo#" + o.String() + "#" + string(o.Profile))
}

// LogoItem returns the item by which the table holds a logo.
func LogoItem(o tenant.Owner, l Logo) (store.Item, error) {
	it := store.Item{Key: LogoKey(o), Kind: "profile_logo", Owner: o}
	return it, it.Encode(l)
}

// Brand is what a page for the client's people shows.
type Brand struct {
	Name string
	// Logo is a data URL of its picture, or empty.
	Logo string
}

// BrandOf returns the brand of the owner's profile, or the zero Brand if there is no such profile.
func BrandOf(ctx context.Context, db *store.DB, o tenant.Owner) (b Brand, err error) {
	items, err := db.GetAll(ctx, store.IDKey(string(o.Profile)), LogoKey(o))
	if err != nil || items[0].Kind != Kind || items[0].Owner != o {
		return b, err
	}
	r, err := Decode(&items[0])
	if err != nil {
		return b, err
	}
	b.Name = r.Name
	if items[1].Kind != "" {
		var l Logo
		err = items[1].Decode(&l)
		b.Logo = l.Data()
	}
	return b, err
}

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
	p, err := Of(ctx, db, o)
	return l.Or(p.Legal), err
}

// Of reads the profile of the owner. It is zero if there is none.
func Of(ctx context.Context, db *store.DB, o tenant.Owner) (p Profile, err error) {
	if o.Profile == "" {
		return p, nil
	}
	found, err := db.Lookup(ctx, store.IDKey(string(o.Profile)))
	if err != nil || found.Kind != Kind || found.Owner != o {
		return p, err
	}
	r, err := Decode(&found)
	return r.Profile, err
}

// LegalOf returns the settings of the item of a factory, completed by those of its profile.
func LegalOf(ctx context.Context, db *store.DB, factory store.Item) (l Legal, err error) {
	if err := factory.Decode(&l); err != nil {
		return l, err
	}
	return l.Completed(ctx, db, factory.Owner)
}
