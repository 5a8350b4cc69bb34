package publishing

import (
	"context"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// change starts a change of a published post.
func (s *Service) change(ctx context.Context, tx *store.Tx, publicationID string, match httpapi.IfMatch, kind string,
	caption *string) (out item.PublishedPost, err error) {
	r, it, history, err := s.find(ctx, publicationID)
	if err != nil {
		return out, err
	}
	pub := r.Item.Publication(publicationID)
	if err := match.Check(pub.Version); err != nil {
		return out, err
	}
	if kind == item.ChangeEdit {
		if err := auth.FromContext(ctx).RequirePost(pub.Platform, s.now()); err != nil {
			return out, err
		}
	}
	limits, _ := s.content.Capabilities(it.Owner.Mode, pub.Platform)
	if err := publication.Change(tx, s.now(), it.Owner, r, pub, limits, kind, caption); err != nil {
		return out, err
	}
	if caption != nil {
		if err := s.content.ModerateCaption(ctx, it.Owner.Mode, *caption); err != nil {
			return out, err
		}
	}
	if err := item.Replace(tx, it, r); err != nil {
		return out, err
	}
	return s.show(ctx, r, pub, history)
}
