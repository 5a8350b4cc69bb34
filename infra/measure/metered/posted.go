package metered

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// posted schedules an item, and returns the id of its publication, as if its platform had taken it.
func (w *World) posted(ctx context.Context) (publicationID string, err error) {
	itemID, err := w.Examples()["publishContentItem"].ID(ctx)
	if err != nil {
		return "", err
	}
	a, err := w.Call(ctx, Request{Operation: "scheduleContentItem", ID: itemID,
		Body: w.Examples()["scheduleContentItem"].Body})
	if err != nil {
		return "", err
	}
	var made struct{ Publications []struct{ ID string } }
	if err := json.Unmarshal(a.Data, &made); err != nil {
		return "", err
	}
	if len(made.Publications) == 0 { // such as that of a factory that requires approval
		return "", fmt.Errorf("metered: %s is scheduled for no account", itemID)
	}
	under, err := w.State.Under(ctx, itemID)
	if err != nil || len(under) == 0 {
		return "", fmt.Errorf("metered: %s is gone: %w", itemID, err)
	}
	it := under[0]
	r, err := item.Of(under)
	if err != nil {
		return "", err
	}
	at, post := resource.Instant(w.Now()), "42"
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		pub.State, pub.PublishedAt, pub.PlatformPostID = item.PublicationPublished, &at, &post
		pub.Posted = &item.Preview{Platform: pub.Platform, Hashtags: []string{}, MediaIDs: []string{},
			Counts: []item.Count{}}
	}
	tx := &store.Tx{}
	for i := range r.Item.Publications {
		pub, proof := &r.Item.Publications[i], publication.Proof{}
		for _, f := range r.Words(pub.Platform, pub.SocialAccountID).Files {
			proof.Files = append(proof.Files, publication.DossierFile{ID: f.ID, MIMEType: f.MIMEType, Bytes: f.Bytes,
				SHA256: f.SHA256})
		}
		if _, err := publication.KeepDossier(tx, w.Now(), it.Owner, r, pub, nil, proof); err != nil {
			return "", err
		}
	}
	if err := item.Replace(tx, it, r); err != nil {
		return "", err
	}
	return made.Publications[0].ID, w.State.Commit(ctx, tx)
}

// commented returns the id of a comment, as if its platform had shown it.
func (w *World) commented(ctx context.Context) (commentID string, err error) {
	like, err := w.State.Get(ctx, store.IDKey(w.creator))
	if err != nil {
		return "", err
	}
	now := w.Now()
	r := &engagement.Record{Remote: "7", Comment: engagement.Comment{
		Resource: resource.New(id.New(id.Comment, now), now, nil), PublicationID: id.New(id.Publication, now),
		ContentItemID: id.New(id.ContentItem, now), FactoryID: w.factory, SocialAccountID: w.creator,
		Platform: instagram.Name, State: engagement.Visible, Text: "Does it come in other colors?",
		Author: engagement.Author{Handle: "@reader", Name: "A reader"}}}
	it, err := r.Entry(now, like.Owner)
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	return r.ID, w.State.Commit(ctx, tx)
}

// connectCreator connects an account of a platform, as if its owner had granted access.
func (w *World) connectCreator(ctx context.Context, state *store.DB, name string) (string, error) {
	like, err := state.Get(ctx, store.IDKey(w.channel))
	if err != nil {
		return "", err
	}
	now := w.Now()
	r := &social.Record{PlatformID: "creator", Account: social.Account{
		Resource: resource.New(social.NewID(now), now, nil), Platform: name, Handle: "acme",
		FactoryIDs: []string{}}}
	vault := social.Vault{Envelope: sealtest.Envelope(stackKey)}
	token := platform.Token{Access: "token"}
	if r.SealedAccount, err = vault.Seal(ctx, like.Owner, r.ID, platform.Account{ID: r.PlatformID, Handle: "acme", Name: "Acme",
		Token: token}); err != nil {
		return "", err
	}
	it, err := r.Item(like.Owner)
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, token); err != nil {
		return "", err
	}
	return r.ID, state.Commit(ctx, tx)
}
