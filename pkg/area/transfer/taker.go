package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// taker takes the lines of a step.
type taker struct {
	w         *Importer
	s         *task.Step
	source    *Header
	principal *auth.Principal
	by        authority.Authority
	replay    *time.Time // see importRecord
	factories *factory.Service
	// found are the items that lines belong to, by their ids.
	found map[string]store.Item

	record *importRecord // what is counted
	left   []LeftOut
	mapped bytes.Buffer
	count  int // of mapped
	files  int // that lines name
}

// line takes a line.
func (t *taker) line(ctx context.Context, part, n int, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return failed("invalid_format", "Line %d of part %d is no JSON object.", n, part)
	}
	if l.Type == headerLine {
		return t.header(part, text)
	}
	if t.source == nil {
		return failed("invalid_format", "Part %d does not begin with the header of an export.", part)
	}
	if l.Type == endLine {
		return nil
	}
	why, err := t.resource(ctx, l)
	var refused *errs.Error
	if errors.As(err, &refused) && errs.InfoOf(refused.Code).Status < 500 {
		why, err = &LeftOut{Code: codeRefused, Message: refused.Message}, nil
	}
	if err != nil {
		return err
	}
	if why != nil {
		why.Type, why.ID = l.Type, l.ID
		t.left = append(t.left, *why)
		return nil
	}
	t.files += len(l.Files)
	taken := t.record.Resources[l.Type]
	taken.Imported++
	t.record.Resources[l.Type] = taken
	return nil
}

// header takes the header of a part.
func (t *taker) header(part int, text []byte) error {
	var h Header
	err := json.Unmarshal(text, &h)
	switch {
	case err != nil || h.Format != Format || !id.Valid(id.Export, h.ExportID):
		return failed("invalid_format", "Part %d is no export of this service.", part)
	case h.Version != FormatVersion:
		return failed("invalid_format", "Part %d has version %d of the format, and this service reads version %d.", part,
			h.Version, FormatVersion)
	case t.source != nil && t.source.ExportID != h.ExportID:
		return failed("invalid_format", "Part %d is of the export %s, and the parts before are of %s. Import one export "+
			"at a time.", part, h.ExportID, t.source.ExportID)
	}
	if t.source == nil {
		t.source = &h
	}
	return nil
}

// adopted is the resource of a line with new ids.
type adopted struct {
	data []byte
	// profile and factory are the ids of what it belongs to, or empty.
	id, profile, factory string
	files                map[string]media.File // by URL
	owner                tenant.Owner
	of                   factory.Factory
	ofItem               store.Item
}

// resource takes the resource of a line. It returns why it is left out, or nil.
func (t *taker) resource(ctx context.Context, l Line) (*LeftOut, error) {
	ids := names{t.s.Owner, t.source.ExportID}
	k, take := takes(l.Type)
	if take == nil {
		return t.leaves(ctx, ids, l)
	}
	if !id.Valid(k.prefix, l.ID) {
		return &LeftOut{Code: codeInvalid, Message: "id is not the id of a " + l.Type + "."}, nil
	}
	tree, err := parse(k, l.Data)
	if e := errs.As(err); err != nil {
		return &LeftOut{Code: codeInvalid, Message: e.Message}, nil
	}
	if tree["id"] != l.ID {
		return &LeftOut{Code: codeInvalid, Message: "id is not that of data."}, nil
	}
	met := map[string]string{}
	a := adopted{id: ids.of(l.ID), files: t.filesOf(ids, l.Files)}
	renamed := ids.tree(tree, met).(map[string]any)
	if a.data, err = json.Marshal(renamed); err != nil {
		return nil, err
	}
	a.profile, _ = renamed["profile_id"].(string)
	a.factory, _ = renamed["factory_id"].(string)
	if why, err := t.place(ctx, k, &a); why != nil || err != nil {
		return why, err
	}
	if err := t.create(ctx, k, take, a); err != nil {
		return nil, err
	}
	return nil, t.note(l, met)
}

// filesOf returns the files of a line by their new URLs, with the keys of their objects.
func (t *taker) filesOf(ids names, files []LineFile) map[string]media.File {
	all := map[string]media.File{}
	for _, lf := range files {
		if name, ok := strings.CutPrefix(lf.URL, FileScheme); ok {
			if f, ok := parseFile(name); ok {
				f = f.of(ids)
				all[FileScheme+f.String()] = media.File{Key: f.key(t.s.Owner), Bytes: lf.Bytes, SHA256: lf.SHA256}
			}
		}
	}
	return all
}

// file returns the stored file of a URL with new ids. That of a media has no line of its own.
func (t *taker) file(a adopted, url string) (media.File, bool) {
	if f, ok := a.files[url]; ok {
		return f, true
	}
	f, ok := parseFile(strings.TrimPrefix(url, FileScheme))
	return media.File{Key: f.key(t.s.Owner)}, ok && strings.HasPrefix(url, FileScheme)
}

// place finds the owner of a resource: that of its factory or its profile.
func (t *taker) place(ctx context.Context, k kind, a *adopted) (*LeftOut, error) {
	a.owner = t.s.Owner
	of := a.profile
	if a.factory != "" && k.prefix != id.Factory {
		of = a.factory
	}
	if of == "" || k.prefix == id.Profile {
		return nil, nil
	}
	it, known := t.found[of]
	if !known {
		items, err := t.w.DB.GetAll(ctx, store.IDKey(of))
		if err != nil {
			return nil, err
		}
		it = items[0]
		t.found[of] = it
	}
	if it.Kind == "" || !it.Owner.Same(t.s.Owner) {
		return &LeftOut{Code: codeMissing, Message: "What it belongs to was not imported: " + of + "."}, nil
	}
	a.owner, a.ofItem = it.Owner, it
	if it.Kind == factory.Kind {
		var err error
		a.of, err = factory.Decode(&it)
		return nil, err
	}
	return nil, nil
}

// create creates a resource, unless it is there.
func (t *taker) create(ctx context.Context, k kind, take take, a adopted) error {
	key := store.IDKey(a.id)
	switch k.prefix {
	case id.Webhook:
		key = webhook.Ref{Owner: a.owner, ID: a.id}.Key()
	case id.ContentPlan:
		key = plan.Key(a.factory, a.id)
	}
	for range conflicts {
		there, err := t.w.DB.GetAll(ctx, key)
		if err != nil || there[0].Kind != "" {
			return err
		}
		tx := &store.Tx{}
		if err := take(ctx, t, tx, a); err != nil {
			return err
		}
		if err = t.w.DB.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return store.ErrConflict
}

// conflicts is how often a resource is created again whose neighbors have changed meanwhile.
const conflicts = 5

// note adds the new ids of a line to the map.
func (t *taker) note(l Line, met map[string]string) error {
	out := json.NewEncoder(&t.mapped)
	if err := out.Encode(mapped{l.Type, l.ID, met[l.ID]}); err != nil {
		return err
	}
	t.count++
	for _, old := range slices.Sorted(maps.Keys(met)) {
		if old == l.ID {
			continue
		}
		if err := out.Encode(mapped{"", old, met[old]}); err != nil {
			return err
		}
		t.count++
	}
	return nil
}

// take adds a resource to a transaction.
type take func(ctx context.Context, t *taker, tx *store.Tx, a adopted) error

// taking decodes a resource for a function that adds it to the transaction.
func taking[T any](f func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v T) error) take {
	return func(ctx context.Context, t *taker, tx *store.Tx, a adopted) error {
		var v T
		if err := json.Unmarshal(a.data, &v); err != nil {
			return errs.Wrap(err, errs.ValidationFailed, "It cannot be decoded.")
		}
		return f(ctx, t, tx, a, v)
	}
}

// takers are the types of resources that imports take.
var takers = map[string]take{
	"profile": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v profile.Profile) error {
		if err := law.CheckSettings(v.Legal); err != nil {
			return err
		}
		v.Logo = nil // its picture is a copy
		r := profile.Record{Profile: v}
		it, err := r.Item(t.s.Owner)
		if err != nil {
			return err
		}
		quota.Profiles.Take(tx, t.w.Now(), &it)
		tx.Create(it, nil)
		ledger.OpenPurse(tx, it.Owner, v.SpendLimit)
		return nil
	}),
	"media": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v incoming.Media) error {
		if v.State != incoming.Ready || v.URL == nil {
			return errs.New(errs.InvalidState, "It is not ready.")
		}
		f, ok := t.file(a, *v.URL)
		if !ok || !strings.Contains(f.Key, "/"+v.ID+"/") {
			return errs.New(errs.ValidationFailed, "Its url names no file of it.")
		}
		return incoming.Adopt(tx, t.w.Now(), a.owner, v, f.Key)
	}),
	"factory": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v factory.Factory) error {
		accounts, err := t.accounts(ctx, a.owner, v.SocialAccountIDs)
		ids := []string{}
		for _, acct := range accounts {
			ids = append(ids, acct.ID)
		}
		if err != nil {
			return err
		}
		return t.factories.Adopt(ctx, tx, t.w.Now(), a.owner, v, ids)
	}),
	"product": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v product.Product) error {
		files := map[string]media.File{}
		for _, p := range v.Photos {
			if p.URL != nil {
				if f, ok := a.files[*p.URL]; ok {
					files[p.ID] = f
				}
			}
		}
		return product.Adopt(tx, a.owner, v, files)
	}),
	"promotion": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adopted, v product.Promotion) error {
		keys := make([]store.Key, len(v.ProductIDs))
		for i, productID := range v.ProductIDs {
			keys[i] = store.IDKey(productID)
		}
		found, err := t.w.DB.GetAll(ctx, keys...)
		if err != nil {
			return err
		}
		return product.AdoptPromotion(tx, t.w.Now(), a.owner, v, found)
	}),
	"experiment": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v experiment.Experiment) error {
		return experiment.Adopt(tx, t.w.Now(), a.owner, v)
	}),
	"content_plan": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v plan.Plan) error {
		return v.Adopt(tx, t.w.Now(), a.owner)
	}),
	"content_item": taking(takeItem),
	"generation":   taking(takeGeneration),
	"automation": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v automation.Details) error {
		return automation.Adopt(tx, t.w.Now(), a.owner, v, t.by)
	}),
	"webhook": taking(func(_ context.Context, t *taker, tx *store.Tx, a adopted, v webhook.Webhook) error {
		return webhook.Adopt(tx, a.owner, v, t.principal)
	}),
}

// takes returns a kind of resource and how an import takes it, or nil if it does not.
func takes(name string) (kind, take) {
	for _, k := range kinds {
		if k.name == name {
			return k, takers[name]
		}
	}
	return kind{}, nil
}

// leaves says why an import does not take a resource. The rehearsal of an export has connected its social accounts.
func (t *taker) leaves(ctx context.Context, ids names, l Line) (*LeftOut, error) {
	if l.Type != "social_account" {
		return &LeftOut{Code: codeElsewhere, Message: "It tells of what has happened in the other account."}, nil
	}
	if t.replay != nil {
		there, err := t.w.DB.GetAll(ctx, store.IDKey(ids.of(l.ID)))
		if err != nil || there[0].Kind != "" {
			return nil, errors.Join(err, t.note(l, map[string]string{l.ID: ids.of(l.ID)}))
		}
	}
	return &LeftOut{Code: codeConsent, Message: "The consent of its owner and its token stay with the other account. " +
		"Connect it here, and attach it to its factories."}, nil
}

func takeItem(ctx context.Context, t *taker, tx *store.Tx, a adopted, v item.Item) error {
	legal, err := profile.LegalOf(ctx, t.w.DB, a.ofItem)
	if err != nil {
		return err
	}
	b := content.Adopted{Item: v, Factory: a.of, Legal: legal, Owner: a.owner, Files: t.shown(a, v.Media)}
	r := item.Record{Item: v}
	for _, f := range b.Files {
		if id.Valid(id.Media, f.ID) {
			r.OwnIDs = append(r.OwnIDs, f.ID)
		}
	}
	var keys []store.Key
	for _, mediaID := range r.MediaIDs() {
		keys = append(keys, store.IDKey(mediaID))
	}
	if b.Media, err = t.w.DB.GetAll(ctx, keys...); err != nil {
		return err
	}
	if t.replay != nil {
		b.Replay = *t.replay
		var on []string
		for _, p := range v.Publications {
			on = append(on, p.SocialAccountID)
		}
		if b.Accounts, err = t.accounts(ctx, a.owner, on); err != nil {
			return err
		}
	}
	return content.Adopt(tx, t.w.Now(), b)
}

// accounts returns the social accounts that there are. Only the rehearsal of an export has connected some.
func (t *taker) accounts(ctx context.Context, o tenant.Owner, ids []string) (all []social.Record, err error) {
	if t.replay == nil || len(ids) == 0 {
		return nil, nil
	}
	keys := make([]store.Key, len(ids))
	for i, accountID := range ids {
		keys[i] = store.IDKey(accountID)
	}
	items, err := t.w.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if !social.Is(it, o) {
			continue
		}
		r, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// shown returns the stored files of the media that a resource shows.
func (t *taker) shown(a adopted, all []media.View) (files []media.File) {
	for _, v := range all {
		f, ok := t.file(a, v.URL)
		if !ok {
			continue
		}
		files = append(files, media.File{ID: v.ID, Role: v.Role, Type: v.Type, MIMEType: v.MIMEType, Key: f.Key,
			Width: v.Width, Height: v.Height, DurationSeconds: v.DurationSeconds, Bytes: v.Bytes, SHA256: v.SHA256,
			Alt: v.AltText, Provenance: v.Provenance})
	}
	return files
}

func takeGeneration(_ context.Context, t *taker, tx *store.Tx, a adopted, v studio.Generation) error {
	r := &studio.Record{Generation: v, Files: t.shown(a, v.Media)}
	r.Media, r.ReservedCredits = []media.View{}, 0
	if r.Runs() {
		r.State = studio.Canceled
	}
	it, err := r.Entry(a.owner)
	if err != nil {
		return err
	}
	if now := t.w.Now(); a.owner.Mode == tenant.Test {
		at := resource.Instant(now.Add(generate.SandboxLife))
		r.ExpiresAt = &at
		if err := errors.Join(it.Encode(r), generate.ExpireLater(tx, now, a.owner, r.ID)); err != nil {
			return err
		}
	}
	tx.Create(it, nil)
	return nil
}
