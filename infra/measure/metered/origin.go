package metered

import (
	"context"
	"errors"
	"fmt"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// checked returns the body that asks for the origin of a media, which is a copy of a finished file.
func (w *World) checked(ctx context.Context) (Object, error) {
	mediaID, err := w.make(ctx, "createMedia")
	if err != nil {
		return nil, err
	}
	it, err := w.State.Get(ctx, store.IDKey(mediaID))
	if err != nil {
		return nil, err
	}
	r, err := incoming.Decode(&it)
	if err != nil {
		return nil, err
	}
	f := media.File{ID: mediaID, Type: media.Image, MIMEType: "image/jpeg", Key: "media/a", Width: 1080, Height: 1350,
		Bytes: r.Bytes, SHA256: r.SHA256, Inspection: &provenance.Inspection{
			Statement: provenance.Statement{Source: provenance.Generated, Credit: "Acme", Systems: "FLUX 1.1 [pro]"},
			Report: provenance.Report{Signature: provenance.Valid, Signer: "Acme GmbH", Generator: "Content Automation",
				Signed: provenance.Generated, Facts: []provenance.Fact{{Kind: "action", Name: "c2pa.created",
					By: "FLUX 1.1 [pro]", Source: provenance.Generated}, {Kind: "model", Name: "FLUX 1.1 [pro]"}}},
			SHA256: r.SHA256}}
	tx := &store.Tx{}
	w.checks++
	if err := errors.Join(incoming.Settle(tx, w.Now(), it, r, &f, nil), generate.Register(tx, it.Owner,
		[]generate.Entry{{Subject: w.item, File: fmt.Sprintf("%s_1_%d", w.item, w.checks), SHA256: r.SHA256,
			Models: []string{"FLUX 1.1 [pro]"}, GeneratedAt: resource.Instant(w.Now())}})); err != nil {
		return nil, err
	}
	return Object{"media_id": mediaID}, w.State.Commit(ctx, tx)
}
