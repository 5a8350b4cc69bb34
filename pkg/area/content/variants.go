package content

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// variantBody is what differs on a platform or an account.
type variantBody struct {
	Texts
	// Ids of your media that are published there, in order. Null: the item's.
	Media []string `json:"media,omitempty" minItems:"1" maxItems:"10" uniqueItems:"true" nullable:"true"`
	// Id of your image that a video there shows before it plays. Null: the item's poster.
	Cover *string `json:"cover,omitempty"`
}

// variants are the variants of a body, by the ids of platforms and social accounts.
type variants map[string]variantBody

// variantsPatch are variants in a merge patch: null removes one.
type variantsPatch map[string]*variantBody

// Schema describes the variants of a patch in the OpenAPI document.
func (variantsPatch) Schema(r huma.Registry) *huma.Schema {
	one := *r.Schema(reflect.TypeFor[variantBody](), false, "")
	one.Nullable = true
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &one, Nullable: true}
	one.PrecomputeMessages()
	s.PrecomputeMessages()
	return s
}

// items returns the variants as items have them.
func (v variants) items() map[string]item.Variant {
	all := map[string]item.Variant{}
	for key, b := range v {
		one := item.Variant{Title: b.Title, Caption: b.Caption, Media: b.Media, Cover: b.Cover}
		if b.Hashtags != nil {
			one.Hashtags = plainTags(b.Hashtags)
		}
		all[key] = one
	}
	return all
}

// variantMembers returns the members of variants that name media.
func variantMembers(all map[string]item.Variant) (members []incoming.Member) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		for i, mediaID := range all[key].Media {
			members = append(members, incoming.Member{Param: "/variants/" + key + "/media/" + strconv.Itoa(i),
				Value: mediaID, Type: media.Image, Others: []media.Type{media.Video}})
		}
		if cover := all[key].Cover; cover != nil {
			members = append(members, incoming.Member{Param: "/variants/" + key + "/cover", Value: *cover,
				Type: media.Image})
		}
	}
	return members
}

// ofAccount reports whether a key of variants is that of an account, not of a platform.
func ofAccount(key string) bool { return strings.HasPrefix(key, id.SocialAccount+"_") }

// vary checks variants, and makes them those of an item. The accounts that they name are among the attached ones, and
// the references have their items.
func (s *Service) vary(o tenant.Owner, r *item.Record, all map[string]item.Variant, attached []string,
	a references) error {
	if len(all) > item.MaxVariants {
		return errs.Invalid("/variants", "may have %d entries at most; there are %d", item.MaxVariants, len(all))
	}
	if all == nil { // a patch has removed them
		all = map[string]item.Variant{}
	}
	files, platforms := map[string]media.File{}, map[string]string{}
	var found []error
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !ofAccount(key) {
			if _, known := registry.Find(key); !known {
				found = append(found, errs.Invalid("/variants/"+key, "is not a platform or the id of a social "+
					"account. Platforms are %s", strings.Join(registry.Names(), ", ")))
			}
			continue
		}
		it := a.accounts[key]
		if !slices.Contains(attached, key) || !social.Is(it, o) {
			found = append(found, errs.Invalid("/variants/"+key, "is not attached to the factory of the item. Attach "+
				"the account, or name it in social_account_ids"))
			continue
		}
		platforms[key] = it.Filters["platform"]
	}
	for _, m := range variantMembers(all) {
		f, err := a.media.File(m)
		if f.Role = media.Final; err == nil {
			files[m.Value] = f
		}
		found = append(found, err)
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	for key, v := range all {
		if before, ok := r.Variants[key]; ok {
			same := before
			same.Adapted = v.Adapted
			if v.Adapted = v.Adapted && reflect.DeepEqual(same, v); !v.Adapted {
				v.PromptVersion = ""
			}
			all[key] = v
		}
	}
	r.Variants, r.VariantFiles, r.VariantPlatforms = all, files, platforms
	return s.fitVariants(o.Mode, r)
}

// adapted returns the platforms for which the texts of a body are adapted, without those whose caption the
// caller gives.
func (a *references) adapted(b *createBody, f factory.Factory) (platforms []string, err error) {
	if !b.Adapt {
		return nil, nil
	}
	ids := b.Accounts
	if len(ids) == 0 {
		ids = f.SocialAccountIDs
	}
	for _, accountID := range ids {
		it, ok := a.accounts[accountID]
		if !ok {
			continue
		}
		p, _ := registry.Find(it.Filters["platform"])
		_, takes := p.Capabilities.Kinds[platform.Kind(b.Kind)]
		if takes && !slices.Contains(platforms, p.Name) && b.Variants[p.Name].Caption == nil {
			platforms = append(platforms, p.Name)
		}
	}
	if len(platforms) == 0 {
		return nil, errs.Invalid("/adapt", "finds no platform to adapt the texts for. Attach social accounts to the "+
			"factory that take the kind, or leave it out")
	}
	slices.Sort(platforms)
	return platforms, nil
}

// fitVariants refuses members of variants that their platforms do not take.
func (s *Service) fitVariants(mode tenant.Mode, r *item.Record) error {
	var found []errs.Detail
	seen := publication.Foreseen(r)
	for _, key := range r.VariantKeys() {
		pub := item.Publication{Platform: key}
		if of := r.VariantPlatforms[key]; of != "" {
			pub = item.Publication{Platform: of, SocialAccountID: key}
		}
		limits, ok := s.Capabilities(mode, pub.Platform)
		if !ok {
			continue
		}
		all, _ := publication.Fit(seen, &pub, limits)
		for _, d := range all {
			if strings.HasPrefix(d.Param, "/variants/"+key+"/") {
				found = append(found, d)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return errs.InvalidFields(found...)
}

// Capabilities returns the limits of a platform.
func (s *Service) Capabilities(mode tenant.Mode, name string) (platform.Capabilities, bool) {
	adapter, ok := s.platforms.Of(mode, name)
	if !ok {
		return platform.Capabilities{}, false
	}
	return adapter.Capabilities(), true
}

// limits returns the limits of the platforms of a mode, which are empty for those that the service does not have.
func (s *Service) limits(mode tenant.Mode) func(string) platform.Capabilities {
	return func(name string) platform.Capabilities {
		limits, _ := s.Capabilities(mode, name)
		return limits
	}
}

// patchVariants checks the variants of a patch, and holds their media instead of the earlier ones.
func (s *Service) patchVariants(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	all map[string]item.Variant) error {
	before := r.MediaIDs()
	var keys []store.Key
	for key := range all {
		if id.Valid(id.SocialAccount, key) {
			keys = append(keys, store.IDKey(key))
		}
	}
	members := variantMembers(all)
	for _, mediaID := range before {
		members = append(members, incoming.Member{Value: mediaID})
	}
	factories, beside, err := s.factories.FindAll(ctx, []string{r.FactoryID}, slices.Concat(keys,
		incoming.Keys(members))...)
	if err != nil {
		return err
	}
	a := references{accounts: map[string]store.Item{}, media: incoming.Of(o, beside[len(keys):])}
	for i, key := range keys {
		a.accounts[key.PK] = beside[i]
	}
	attached := slices.Concat(factories[r.FactoryID].SocialAccountIDs, r.SocialAccountIDs)
	if err := s.vary(o, r, all, attached, a); err != nil {
		return err
	}
	held := map[string]int{}
	for _, mediaID := range before {
		held[mediaID]--
	}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID]++
	}
	return a.media.Hold(tx, s.now(), held)
}

// release adds to the transaction that an item that is deleted shows no media of the caller.
func (s *Service) release(ctx context.Context, tx *store.Tx, r *item.Record) error {
	held, members := map[string]int{}, []incoming.Member{}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID], members = -1, append(members, incoming.Member{Value: mediaID})
	}
	given, err := incoming.Read(ctx, s.db, members)
	if err != nil {
		return err
	}
	return given.Hold(tx, s.now(), held)
}

// preview sets what is published where.
func (s *Service) preview(ctx context.Context, r *item.Record, v *item.Item) {
	mode := auth.FromContext(ctx).Mode
	v.Previews = publication.Previews(r, func(name string) (platform.Capabilities, bool) {
		return s.Capabilities(mode, name)
	})
}
