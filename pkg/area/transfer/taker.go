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

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
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
	replay    *time.Time
	factories *factory.Service
	// found are the items that lines belong to, by their ids.
	found map[string]store.Item

	record *importRecord
	left   []LeftOut
	mapped bytes.Buffer
	count  int
	files  int
}

// line takes the n-th line of a part, whatever its type is.
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
		return failed("invalid_format", "Part %d has version %d of the format, and this service reads version %d.",
			part, h.Version, FormatVersion)
	case t.source != nil && t.source.ExportID != h.ExportID:
		return failed("invalid_format", "Part %d is of the export %s, and the parts before are of %s. Import one "+
			"export at a time.", part, h.ExportID, t.source.ExportID)
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
	files                map[string]media.File
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
		var err error
		if it, err = t.w.DB.Lookup(ctx, store.IDKey(of)); err != nil {
			return nil, err
		}
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
		there, err := t.w.DB.Lookup(ctx, key)
		if err != nil || there.Kind != "" {
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

// leaves says why an import does not take a resource. The rehearsal of an export has connected its social accounts.
func (t *taker) leaves(ctx context.Context, ids names, l Line) (*LeftOut, error) {
	if l.Type != "social_account" {
		return &LeftOut{Code: codeElsewhere, Message: "It tells of what has happened in the other account."}, nil
	}
	if t.replay != nil {
		there, err := t.w.DB.Lookup(ctx, store.IDKey(ids.of(l.ID)))
		if err != nil || there.Kind != "" {
			return nil, errors.Join(err, t.note(l, map[string]string{l.ID: ids.of(l.ID)}))
		}
	}
	return &LeftOut{Code: codeConsent, Message: "The consent of its owner and its token stay with the other account. " +
		"Connect it here, and attach it to its factories."}, nil
}
