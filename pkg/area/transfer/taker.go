package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
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
	// items are the items that lines belong to, by their ids.
	items map[string]store.Item

	record  *importRecord
	leftOut []LeftOut
	mapText bytes.Buffer
	count   int
	// files is the number of files that lines name, copied that of those which were stored, and bytes their size.
	files, copiedFiles int
	bytes              int64
}

// read reads the n-th line of a part. One that has no resource has no type.
func (t *taker) read(ctx context.Context, part, n int, text []byte) (l Line, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return l, nil
	}
	if l, err = ParseLine(ctx, part, n, text); err != nil {
		return l, err
	}
	switch {
	case l.Kind == headerLine:
		return Line{}, t.header(part, text)
	case t.source == nil:
		return l, failure("invalid_format", "Part %d does not begin with the header of an export.", part)
	case l.Kind == endLine:
		return Line{}, nil
	}
	l.Kind = cmp.Or(l.Kind, unknownKind)
	return l, nil
}

// ParseLine parses the n-th line of a part, if it is within the budget of one.
func ParseLine(ctx context.Context, part, n int, text []byte) (l Line, err error) {
	if err := lineBudget.JSON(ctx, text); errors.Is(err, budget.ErrExceeded) {
		return l, failure("invalid_format", "Line %d of part %d has too many members, or too many levels.", n,
			part)
	}
	if err := json.Unmarshal(text, &l); err != nil || bytes.TrimSpace(text)[0] != '{' {
		return l, failure("invalid_format", "Line %d of part %d is no JSON object.", n, part)
	}
	return l, nil
}

// The bounds of what a reason says of a line: the letters of its kind and its id, and of the message.
const (
	mostID      = 64
	mostMessage = 1000
)

// line takes the n-th line of a part, whatever its type is.
func (t *taker) line(ctx context.Context, part, n int, raw []byte) error {
	l, err := t.read(ctx, part, n, raw)
	if err != nil || l.Kind == "" {
		return err
	}
	why, err := t.resource(ctx, l)
	var refused *errs.Error
	if errors.As(err, &refused) && errs.InfoOf(refused.Code).Status < 500 {
		why, err = &LeftOut{Code: codeRefused, Message: reasonOf(err)}, nil
	}
	if errors.Is(err, store.ErrUnstorable) {
		why, err = &LeftOut{Code: codeRefused, Message: "An id of it is empty or too long, or all of it is larger " +
			"than a resource may be."}, nil
	}
	if err != nil {
		return err
	}
	if why != nil {
		why.Kind, why.ID = text.ClipText(l.Kind, mostID), text.ClipText(l.ID, mostID)
		why.Message = text.ClipText(why.Message, mostMessage)
		t.leftOut = append(t.leftOut, *why)
		return nil
	}
	taken := t.record.Resources[l.Kind]
	taken.Imported++
	t.record.Resources[l.Kind] = taken
	return nil
}

func (t *taker) header(part int, text []byte) error {
	var h Header
	err := json.Unmarshal(text, &h)
	switch {
	case err != nil || h.Format != Format || !id.Valid(id.Export, h.ExportID):
		return failure("invalid_format", "Part %d is no export of this service.", part)
	case h.Version != FormatVersion:
		return failure("invalid_format", "Part %d has version %d of the format, and this service reads version %d.",
			part, h.Version, FormatVersion)
	case t.source != nil && t.source.ExportID != h.ExportID:
		return failure("invalid_format", "Part %d is of the export %s, and the parts before are of %s. Import one "+
			"export at a time.", part, h.ExportID, t.source.ExportID)
	}
	if t.source == nil {
		t.source = &h
	}
	return nil
}

// adoption is the resource of a line with new ids.
type adoption struct {
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
	k, take := importKind(l.Kind)
	switch {
	case k.name == "":
		return &LeftOut{Code: codeElsewhere, Message: "This service has no resources of such a kind."}, nil
	case take == nil:
		return t.leaves(ctx, ids, l)
	}
	if !id.Valid(k.prefix, l.ID) {
		return &LeftOut{Code: codeInvalid, Message: "id is not the id of a " + l.Kind + "."}, nil
	}
	if at, _ := id.Time(l.ID); at.After(t.w.Now().Add(time.Hour)) {
		return &LeftOut{Code: codeInvalid, Message: "id is of a time that is still to come."}, nil
	}
	tree, err := parse(k, l.Data)
	if err != nil {
		return &LeftOut{Code: codeInvalid, Message: reasonOf(err)}, nil
	}
	if tree[k.idMember()] != l.ID {
		return &LeftOut{Code: codeInvalid, Message: "id is not that of data."}, nil
	}
	in := admit(tree, membersOfKind(k))
	if err := cmp.Or(checkBounds(in, "", checkText), checkInput(k.name, in), t.w.checkURL(ctx, k, in)); err != nil {
		return &LeftOut{Code: codeRefused, Message: reasonOf(err)}, nil
	}
	a := adoption{id: ids.of(l.ID)}
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
	if k.idMember() != "id" {
		met = map[string]string{l.ID: a.id}
	}
	return nil, t.note(l, met)
}

// reasonOf returns why a line is refused, with each of its members that are at fault.
func reasonOf(err error) string {
	e := errs.As(err)
	if len(e.Details) < 2 {
		return e.Message
	}
	var all []string
	for _, d := range e.Details {
		all = append(all, d.Param+": "+d.Message)
	}
	return strings.Join(all, "; ")
}

// rename encodes a resource with new ids. It is as new as the import.
func (t *taker) rename(ids names, in, tree map[string]any, met map[string]string, a *adoption) (err error) {
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
func (t *taker) filesOf(ctx context.Context, ids names, l Line, a *adoption) (*LeftOut, error) {
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
		case f.Refusal != "":
			return &LeftOut{Code: codeInvalid, Message: f.Refusal}, nil
		case items[i].Kind != "" && (f.SHA256 != lf.SHA256 || f.Bytes != lf.Bytes):
			return &LeftOut{Code: codeInvalid, Message: "Another line says that the file " + of.String() + " is " +
					"another."},
				nil
		}
		found := lineFile{attempt: attempt}
		if f.File != nil {
			found.File, found.copy = *f.File, f.File.Key
			found.Key = of.of(ids).key(t.s.Owner)
		}
		a.files[lf.URL] = found
	}
	return nil, nil
}

// file returns the file of a line with a URL, and false if no archive has it.
func (a adoption) file(url *string) (f lineFile, ok bool) {
	if url == nil {
		return f, false
	}
	f = a.files[*url]
	return f, f.Key != ""
}

// place finds the owner of a resource: that of its factory or its profile.
func (t *taker) place(ctx context.Context, k exported, a *adoption) (*LeftOut, error) {
	a.owner = t.s.Owner
	of := a.profile
	if a.factory != "" && k.item != factory.Kind {
		of = a.factory
	}
	if of == "" || k.prefix == id.Profile {
		return nil, nil
	}
	it, known := t.items[of]
	if !known {
		var err error
		if it, err = t.w.DB.Lookup(ctx, store.IDKey(of)); err != nil {
			return nil, err
		}
		t.items[of] = it
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
	out := json.NewEncoder(&t.mapText)
	if err := out.Encode(mapLine{l.Kind, l.ID, met[l.ID]}); err != nil {
		return err
	}
	t.count++
	for _, old := range slices.Sorted(maps.Keys(met)) {
		if old == l.ID {
			continue
		}
		if err := out.Encode(mapLine{"", old, met[old]}); err != nil {
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

// take adds a resource to a transaction.
type take func(ctx context.Context, t *taker, tx *store.Tx, a adoption) error

// taking decodes a resource for a function that adds it to the transaction.
func taking[T any](f func(ctx context.Context, t *taker, tx *store.Tx, a adoption, v T) error) take {
	return func(ctx context.Context, t *taker, tx *store.Tx, a adoption) error {
		var v T
		if err := json.Unmarshal(a.data, &v); err != nil {
			return errs.Wrap(err, errs.ValidationFailed, "It cannot be decoded.")
		}
		return f(ctx, t, tx, a, v)
	}
}

// takers are the types of resources that imports take.
var takers = map[string]take{
	"profile": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v profile.Profile) error {
		if err := law.CheckSettings(v.Legal); err != nil {
			return err
		}
		v.Logo, v.TemplateID = nil, nil
		r := profile.Record{Profile: v}
		it, err := r.Item(t.s.Owner)
		if err != nil {
			return err
		}
		quota.Profiles.Take(tx, t.w.Now(), &it)
		tx.Create(it, nil)
		ledger.OpenPurse(tx, it.Owner, v.Bounds())
		return nil
	}),
	"media": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v incoming.Media) error {
		f, ok := a.file(v.URL)
		if !ok {
			return errs.New(errs.ValidationFailed, "Its url names no file of it that a part has.")
		}
		return incoming.AdoptFile(tx, t.w.Now(), a.owner, v, f.File, t.replay != nil)
	}),
	"template": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v template.Details) error {
		return template.Adopt(tx, t.w.Now(), a.owner, v)
	}),
	"factory": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adoption, v factory.Factory) error {
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
	"product": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v product.Product) error {
		files := map[string]media.File{}
		for _, p := range v.Photos {
			if f, ok := a.file(p.URL); ok && strings.Contains(f.Key, "/"+p.ID+"/") {
				files[p.ID] = f.File
			}
		}
		return product.Adopt(tx, a.owner, v, files)
	}),
	"feed": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v feed.Feed) error {
		return feed.Adopt(tx, t.w.Now(), a.ofItem, v, t.by)
	}),
	"promotion": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adoption, v product.Promotion) error {
		found, err := t.w.DB.GetAll(ctx, store.IDKeys(v.ProductIDs)...)
		if err != nil {
			return err
		}
		return product.AdoptPromotion(tx, t.w.Now(), a.owner, v, found)
	}),
	"experiment": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v experiment.Experiment) error {
		return experiment.Adopt(tx, t.w.Now(), a.owner, v)
	}),
	"content_plan": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v plan.Plan) error {
		return v.Adopt(tx, t.w.Now(), a.owner, a.of)
	}),
	"content_item": taking(takeItem),
	"generation": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v studio.Generation) error {
		files, _, _ := t.mediaFiles(a, v.Media)
		return studio.Adopt(tx, t.w.Now(), a.owner, v, files, t.replay != nil)
	}),
	"automation": taking(func(_ context.Context, t *taker, tx *store.Tx, a adoption, v automation.Details) error {
		return automation.Adopt(tx, t.w.Now(), a.owner, v, a.of, t.by)
	}),
	"webhook": taking(func(ctx context.Context, t *taker, tx *store.Tx, a adoption, v webhook.Webhook) error {
		secret, _, err := webhook.NewSecret(ctx, t.w.Random, t.w.Envelope, webhook.Ref{Owner: a.owner, ID: v.ID})
		if err != nil {
			return err
		}
		return takeWebhook(tx, a.owner, v, t.principal, secret)
	}),
}

// importKind returns a kind of resource and how an import takes it, or nil if it does not.
func importKind(name string) (exported, take) {
	for _, k := range kinds {
		if k.name == name {
			return k, takers[name]
		}
	}
	return exported{}, nil
}

func takeItem(ctx context.Context, t *taker, tx *store.Tx, a adoption, v item.Item) error {
	legal, design, err := content.OfProfile(ctx, t.w.DB, &a.of, a.ofItem.Owner)
	if err != nil {
		return err
	}
	b := content.AdoptedItem{Item: v, Factory: a.of, Legal: legal, Design: design, Owner: a.owner}
	b.Files, b.Attempt, b.Lost = t.mediaFiles(a, v.Media)
	if err := json.Unmarshal(a.past, &b.Past); err != nil {
		return errs.Wrap(err, errs.ValidationFailed, "It cannot be decoded.")
	}
	r := item.Record{Item: v}
	for _, f := range b.Files {
		if id.Valid(id.Media, f.ID) {
			r.OwnIDs = append(r.OwnIDs, f.ID)
		}
	}
	if b.Media, err = t.w.DB.GetAll(ctx, store.IDKeys(r.MediaIDs())...); err != nil {
		return err
	}
	if t.replay != nil {
		b.Replay = *t.replay
		var on []string
		for _, p := range b.Past.Publications {
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
	items, err := t.w.DB.GetAll(ctx, store.IDKeys(ids)...)
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

// mediaFiles returns the files of the media that a resource shows, as they were read, the latest attempt that they are
// of, and whether one is missing that is to be published. Those of the caller have lines of their own.
func (t *taker) mediaFiles(a adoption, all []media.View) (files []media.File, attempt int, lost bool) {
	for _, v := range all {
		f, ok := a.file(&v.URL)
		if ok && strings.HasPrefix(v.ID, a.id+"_") {
			f.ID, f.Role, f.Alt = v.ID, v.Role, v.AltText
			files, attempt = append(files, f.File), max(attempt, f.attempt)
			continue
		}
		if id.Valid(id.Media, v.ID) {
			files = append(files, media.File{ID: v.ID, Role: v.Role})
			continue
		}
		lost = lost || v.Role == media.Final
	}
	return files, attempt, lost
}

// checkURL refuses the address of a webhook or of a feed that its creation would refuse.
func (w *Importer) checkURL(ctx context.Context, k exported, in map[string]any) error {
	at, of := "/url", in
	if within := map[string]string{automation.ItemKind: "trigger", shelf.Kind: "source"}[k.item]; within != "" {
		at = "/" + within + "/url"
		of, _ = in[within].(map[string]any)
	} else if k.item != webhook.Kind {
		return nil
	}
	address, ok := of["url"].(string)
	if !ok {
		return nil
	}
	var check safehttp.Checker = w.Addresses
	if check == nil {
		check = safehttp.New(safehttp.Options{})
	}
	if err := check.CheckURL(ctx, address); err != nil {
		return safehttp.InvalidURL(err, at)
	}
	return nil
}

// Imported is the kind of the item which says that an import has created a resource with files, so that it may store
// them, and no other import.
const Imported = "imported"

// importedFiles is such an item.
type importedFiles struct {
	Import string         `json:"import"`
	Files  []importedFile `json:"files"`
}

// importedFile is a file of the resource, and its copy in the import.
type importedFile struct {
	media.File
	Copy string `json:"copy"`
}

func importedKey(resourceID string) store.Key { return store.IDKey(Imported + "#" + resourceID) }

// create creates a resource, unless it is there, and then stores its files.
func (t *taker) create(ctx context.Context, k exported, take take, a adoption) error {
	key := store.IDKey(a.id)
	switch k.prefix {
	case id.Factory:
		if k.item == shelf.Kind {
			key = shelf.Key(a.id)
		}
	case id.Webhook:
		key = webhook.Ref{Owner: a.owner, ID: a.id}.Key()
	case id.ContentPlan:
		key = plan.Key(a.factory, a.id)
	}
	t.files += len(a.files)
	var files []importedFile
	var found bool
	err := t.w.DB.Change(ctx, func(tx *store.Tx) error {
		there, err := t.w.DB.Lookup(ctx, key)
		if found = there.Kind != ""; err != nil || found {
			return err
		}
		if err := take(ctx, t, tx, a); err != nil {
			return err
		}
		files, err = t.claim(tx, k, a)
		return err
	})
	switch {
	case err != nil:
		t.files -= len(a.files)
		return err
	case found:
		return t.storeAgain(ctx, a)
	}
	return t.keep(ctx, files)
}

// claim adds to the transaction that this import has created a resource with files. Their bytes count for the storage
// of the account, as long as the resource has them. Those of a media are counted with it, and those of photos are not.
func (t *taker) claim(tx *store.Tx, k exported, a adoption) (files []importedFile, err error) {
	bytes := int64(0)
	for _, url := range slices.Sorted(maps.Keys(a.files)) {
		if f := a.files[url]; f.Key != "" {
			files, bytes = append(files, importedFile{f.File, f.copy}), bytes+f.Bytes
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	it := store.Item{Key: importedKey(a.id), Kind: Imported, Owner: a.owner, ExpireAt: t.w.Now().Add(longest + keep)}
	if err := it.Encode(importedFiles{t.s.Subject, files}); err != nil {
		return nil, err
	}
	tx.Create(it, nil)
	if k.prefix == id.Media || k.prefix == id.Product {
		return files, nil
	}
	return files, quota.HoldBytes(tx, a.owner, a.id, bytes, incoming.MostBytes(a.owner),
		incoming.ErrTooManyBytes(a.owner))
}

// storeAgain stores the files of a resource that is there, if this import has created it: its function has died since.
// Those of any other resource stay as they are.
func (t *taker) storeAgain(ctx context.Context, a adoption) error {
	it, err := t.w.DB.Lookup(ctx, importedKey(a.id))
	if err != nil {
		return err
	}
	var of importedFiles
	if it.Kind == Imported {
		err = it.Decode(&of)
	}
	if err != nil {
		return err
	}
	if of.Import != t.s.Subject {
		t.files -= len(a.files)
		return nil
	}
	return t.keep(ctx, of.Files)
}

// keep stores the files of a resource that this import has created. No object is ever stored over another.
func (t *taker) keep(ctx context.Context, files []importedFile) error {
	for _, f := range files {
		if err := t.store(ctx, f); err != nil {
			return err
		}
		t.copiedFiles++
		t.bytes += f.Bytes
	}
	return nil
}

func (t *taker) store(ctx context.Context, f importedFile) error {
	body, err := t.w.Objects.Open(ctx, f.Copy)
	if err != nil {
		return err
	}
	defer body.Close()
	content, err := media.Spool(ctx, body, mostFile)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := t.w.Objects.PutNew(ctx, f.File, content); !errors.Is(err, media.ErrExists) {
		return err
	}
	return nil
}

// takeWebhook adds a webhook to the transaction, on behalf of a caller. It is disabled and has a secret that nobody has
// seen: a rotation shows another one. A destination in AWS is refused, since its external id belongs to the other
// webhook.
func takeWebhook(tx *store.Tx, o tenant.Owner, w webhook.Webhook, p *auth.Principal, secret webhook.Secret) error {
	if w.URL == nil {
		return errs.New(errs.InvalidState, "Its destination trusts the external id of the other webhook. Create it "+
			"anew.")
	}
	if err := event.CheckFields(w.Fields, w.EventTypes); err != nil {
		return err
	}
	r := &webhook.WebhookRecord{Webhook: w, Secrets: webhook.Secrets{secret}}
	r.Disable(webhook.ReasonRequested)
	r.SetMaker(p)
	return addWebhook(tx, o, r)
}

// rehearseWebhook adds a webhook to the transaction of a rehearsal. It is enabled, has a secret of its own, and sends
// to an address in place of its receiver.
func rehearseWebhook(tx *store.Tx, o tenant.Owner, w webhook.Webhook, address string, secret webhook.Secret) error {
	w.URL, w.State, w.DisabledReason, w.CreatedBy = &address, webhook.StateEnabled, nil, string(auth.Operator)
	return addWebhook(tx, o, &webhook.WebhookRecord{Webhook: w, Secrets: webhook.Secrets{secret},
		MakerScopes: auth.AllScopes()})
}

func addWebhook(tx *store.Tx, o tenant.Owner, r *webhook.WebhookRecord) error {
	r.ProfileID, r.Destination, r.FailingSince, r.LastSuccessAt, r.LatencyMS = o.ProfileID(), nil, nil, nil, nil
	it, err := store.NewItem(webhook.Kind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Key, it.ListKey = webhook.Ref{Owner: o, ID: r.ID}.Key(), store.Key{}
	tx.Create(it, nil)
	tx.Count(webhook.CountKey(o), 1, webhook.MaxPerOwner, errs.New(errs.InvalidState, "There are already %d webhooks "+
		"in this mode or profile, which is the maximum. Delete one first, and import again.", webhook.MaxPerOwner))
	return nil
}

// names gives the resources of an import their ids. An id follows from the owner, the export and the old id: the same
// export gets the same ids each time. No id of the other account stays, of whatever kind: here it may be the id of
// something else.
type names struct {
	owner  tenant.Owner
	export string
}

// of returns the new id of a resource, or the old one if it keeps that.
func (n names) of(old string) string {
	prefix, ok := id.PrefixOf(old)
	if !ok {
		return old
	}
	at, _ := id.Time(old)
	return id.Derived(prefix, at, "import", n.owner.String(), n.export, old)
}

// idForm matches the id of a resource, and that of a file of one.
var idForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25})(_[0-9]+_[0-9]+)?$`)
})

// text returns a text in which an id is the new one.
func (n names) text(s string) string {
	if m := idForm().FindStringSubmatch(s); m != nil {
		return n.of(m[1]) + m[2]
	}
	return s
}

// own is the member with the pairs of the caller, in which nothing is an id of ours.
const own = "metadata"

// tree returns a JSON value with new ids. It adds the ids of resources that are parts of others to met.
func (n names) tree(v any, met map[string]string) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = n.tree(v[i], met)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for name, member := range v {
			if name == own {
				all[name] = member
				continue
			}
			if old, ok := member.(string); ok && name == "id" && n.of(old) != old {
				met[old] = n.of(old)
			}
			all[n.text(name)] = n.tree(member, met)
		}
		return all
	}
	return v
}

// file is the name of a file in an export: media, the id of its resource, the attempt and the name of the object.
type file struct{ resource, attempt, name string }

var fileForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^media/([a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25})/([0-9]{1,6})/([0-9a-zA-Z]{1,80}\.[a-z0-9]{1,8})$`)
})

func parseFile(name string) (file, bool) {
	m := fileForm().FindStringSubmatch(name)
	if m == nil {
		return file{}, false
	}
	return file{m[1], m[2], m[3]}, true
}

// of returns the file with its new id. Nothing else is in that place: the id follows from a hash.
func (f file) of(n names) file { f.resource = n.of(f.resource); return f }

// String returns the name of the file in an export.
func (f file) String() string { return "media/" + f.resource + "/" + f.attempt + "/" + f.name }

// key returns the key of the object of a file of an owner.
func (f file) key(o tenant.Owner) string {
	return "media/" + string(o.Account) + "/" + string(o.Mode) + "/" + f.resource + "/" + f.attempt + "/" + f.name
}
