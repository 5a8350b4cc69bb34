package main

import (
	"context"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/store"
)

// ofPicture asks for music that is a picture. set sets a member.
func ofPicture(set func(name string, value any) spoiler) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		made, err := s.make(ctx, r.Key, "createMedia", s.w.Examples()["createMedia"].Body)
		if err != nil {
			return err
		}
		it, err := s.w.State.Get(ctx, store.IDKey(made))
		if err != nil {
			return err
		}
		picture, err := incoming.Decode(&it)
		if err != nil {
			return err
		}
		picture.State = incoming.Ready
		if err := picture.Encode(&it); err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := s.w.State.Commit(ctx, tx); err != nil {
			return err
		}
		return set("music", made)(ctx, s, r)
	}
}
