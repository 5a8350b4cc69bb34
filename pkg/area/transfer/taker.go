package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// taker takes the lines of a step.
type taker struct {
	w         *Importer
	s         *task.Run
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
	// files is the number of files that lines name, copied that of those which were stored, and bytes their size.
	files, copied int
	bytes         int64
}

// read reads the n-th line of a part. One that has no resource has no type.
func (t *taker) read(ctx context.Context, part, n int, text []byte) (l Line, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return l, nil
	}
	if err := lineBudget.JSON(ctx, text); errors.Is(err, budget.ErrExceeded) {
		return l, failed("invalid_format", "Line %d of part %d has too many members.", n, part)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, failed("invalid_format", "Line %d of part %d is no JSON object.", n, part)
	}
	switch {
	case l.Kind == headerLine:
		return Line{}, t.header(part, text)
	case t.source == nil:
		return l, failed("invalid_format", "Part %d does not begin with the header of an export.", part)
	case l.Kind == endLine:
		return Line{}, nil
	}
	return l, nil
}

// line takes the n-th line of a part, whatever its type is.
func (t *taker) line(ctx context.Context, part, n int, text []byte) error {
	l, err := t.read(ctx, part, n, text)
	if err != nil || l.Kind == "" {
		return err
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
		why.Kind, why.ID = l.Kind, l.ID
		t.left = append(t.left, *why)
		return nil
	}
	taken := t.record.Resources[l.Kind]
	taken.Imported++
	t.record.Resources[l.Kind] = taken
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
	// data is what comes in of the resource, and past is all that the line says.
	data, past []byte
	// profile and factory are the ids of what it belongs to, or empty.
	id, profile, factory string
	// files are the files of the line, by their URLs, with the keys that they get here.
	files  map[string]lineFile
	owner  tenant.Owner
	of     factory.Factory
	ofItem store.Item
}

// lineFile is a file of a line, as an archive has it. It has no key if none has it.
type lineFile struct {
	media.File
	attempt int
	// copy is the key of its copy in the import.
	copy string
}

// resource takes the resource of a line. It returns why it is left out, or nil.
func (t *taker) resource(ctx context.Context, l Line) (*LeftOut, error) {
	ids := names{t.s.Owner, t.source.ExportID}
	k, take := takes(l.Kind)
	if take == nil {
		return t.leaves(ctx, ids, l)
	}
	if !id.Valid(k.prefix, l.ID) {
		return &LeftOut{Code: codeInvalid, Message: "id is not the id of a " + l.Kind + "."}, nil
	}
	tree, err := parse(k, l.Data)
	if e := errs.As(err); err != nil {
		return &LeftOut{Code: codeInvalid, Message: e.Message}, nil
	}
	if tree["id"] != l.ID {
		return &LeftOut{Code: codeInvalid, Message: "id is not that of data."}, nil
	}
	in := admit(tree, membersOfKind(k))
	if err := cmp.Or(checkBounds(in, ""), checkInput(k.name, in), t.w.checkURL(ctx, k, in)); err != nil {
		return &LeftOut{Code: codeRefused, Message: errs.As(err).Message}, nil
	}
	a := adopted{id: ids.of(l.ID)}
	why, err := t.filesOf(ctx, ids, l, &a)
	if why != nil || err != nil {
		return why, err
	}
	met := map[string]string{}
	if err := t.rename(ids, in, tree, met, &a); err != nil {
		return nil, err
	}
	if why, err := t.place(ctx, k, &a); why != nil || err != nil {
		return why, err
	}
	if err := t.create(ctx, k, take, a); err != nil {
		return nil, err
	}
	return nil, t.note(l, met)
}

// rename encodes a resource with new ids. It is as new as the import.
func (t *taker) rename(ids names, in, tree map[string]any, met map[string]string, a *adopted) (err error) {
	profileID, _ := tree["profile_id"].(string)
	a.profile = ids.of(profileID)
	if a.past, err = json.Marshal(ids.tree(tree, map[string]string{})); err != nil {
		return err
	}
	now := resource.Instant(t.w.Now())
	if made, ok := in["created_at"].(string); !ok || made > resource.SortableTime(now.Time) {
		in["created_at"] = now
	}
	in["updated_at"], in["version"] = now, 1
	renamed := ids.tree(in, met).(map[string]any)
	a.factory, _ = renamed["factory_id"].(string)
	a.data, err = json.Marshal(renamed)
	return err
}

// mostAttempts bounds the attempts of which there are files: each is removed in a place of its own.
const mostAttempts = 1000

// filesOf reads what the files of a line are. A file that is not what the line says is a reason to leave the line out.
func (t *taker) filesOf(ctx context.Context, ids names, l Line, a *adopted) (*LeftOut, error) {
	a.files = map[string]lineFile{}
	named := namedOf(l)
	keys := make([]store.Key, len(named))
	for i, lf := range named {
		keys[i] = fileKey(t.s, strings.TrimPrefix(lf.URL, FileScheme))
	}
	items, err := t.w.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, lf := range named {
		of, _ := parseFile(strings.TrimPrefix(lf.URL, FileScheme))
		attempt, _ := strconv.Atoi(of.attempt)
		one := id.Valid(id.Media, of.resource) || id.Valid(id.Photo, of.resource)
		if attempt < 1 || attempt > mostAttempts || one && attempt > 1 {
			return &LeftOut{Code: codeInvalid, Message: "The file " + of.String() + " is of no attempt."}, nil
		}
		var f namedFile
		if items[i].Kind != "" {
			if err := items[i].Decode(&f); err != nil {
				return nil, err
			}
		}
		switch {
		case f.Refused != "":
			return &LeftOut{Code: codeInvalid, Message: f.Refused}, nil
		case items[i].Kind != "" && (f.SHA256 != lf.SHA256 || f.Bytes != lf.Bytes):
			return &LeftOut{Code: codeInvalid, Message: "Another line says that the file " + of.String() + " is " +
					"another."},
				nil
		}
		found := lineFile{attempt: attempt}
		if f.Found != nil {
			found.File, found.copy = *f.Found, f.Found.Key
			found.Key = of.of(ids).key(t.s.Owner)
		}
		a.files[lf.URL] = found
	}
	return nil, nil
}

// file returns the file of a line with a URL, and false if no archive has it.
func (a adopted) file(url *string) (f lineFile, ok bool) {
	if url == nil {
		return f, false
	}
	f = a.files[*url]
	return f, f.Key != ""
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

// note adds the new ids of a line to the map.
func (t *taker) note(l Line, met map[string]string) error {
	out := json.NewEncoder(&t.mapped)
	if err := out.Encode(mapped{l.Kind, l.ID, met[l.ID]}); err != nil {
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
	if l.Kind != "social_account" {
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
