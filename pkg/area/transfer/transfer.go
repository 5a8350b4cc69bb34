// Package transfer takes the data of an account out, and into another account or a sandbox. An export writes JSON lines
// and the files that they name into parts, which a worker makes one at a time. An import reads such parts.
// docs/transfer.md describes the format.
package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	templaterecord "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Format names the format of the lines, and FormatVersion is its version. A version changes only by additions.
const (
	Format        = "content-automation-export"
	FormatVersion = 1
)

// The types of the lines that are no resources. The type of any other line names its resource.
const (
	headerLine = "header"
	endLine    = "end"
)

// Header is the first line of each part of lines.
type Header struct {
	// Kind of the line: header.
	Kind string `json:"kind" enum:"header"`
	// Name of the format: content-automation-export.
	Format string `json:"format" enum:"content-automation-export"`
	// Version of the format.
	Version int `json:"version"`
	// Id of the export.
	ExportID string `json:"export_id"`
	// Account that the data is of.
	AccountID tenant.Account `json:"account_id"`
	// Mode that the data is of.
	Mode tenant.Mode `json:"mode" enum:"live,test"`
	// Profile that the data is of. Null: the whole account.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Start of the export. No resource is younger.
	ConsistentAt resource.Time `json:"consistent_at"`
	// Number of the part, from 1.
	Part int `json:"part"`
}

// Line is the line of a resource.
type Line struct {
	// Kind of the resource, such as factory.
	Kind string `json:"kind"`
	// Id of the resource.
	ID string `json:"id"`
	// The resource as its GET shows it, without secrets. URLs of files name entries of the parts of files.
	Data json.RawMessage `json:"data"`
	// Its files, in parts of files. Those of media that it shows are with the lines of these media.
	Files []LineFile `json:"files" nullable:"false"`
}

// LineFile is a file of the resource of a line.
type LineFile struct {
	// Name of the entry in a part of files, after export://.
	URL string `json:"url" format:"uri" example:"export://media/cnt_01h455vb4pex5vsknk084sn02q/1/6.jpg"`
	// Size in bytes.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal.
	SHA256 string `json:"sha256"`
}

// End is the last line of each part of lines.
type End struct {
	// Kind of the line: end.
	Kind string `json:"kind" enum:"end"`
	// Number of the part.
	Part int `json:"part"`
	// Whether no more part of lines follows.
	Last bool `json:"last"`
	// Number of the resources in the part, by their types.
	Resources map[string]int `json:"resources"`
	// Ids of the resources in the part that have changed between consistent_at and their reading.
	Changed []string `json:"changed" nullable:"false"`
}

// The prefixes of the objects of exports and imports. The bucket removes them after some days.
const (
	Exports = "exports/"
	Imports = "imports/"
)

// FileScheme is the scheme of the URLs by which lines name entries of the parts of files.
const FileScheme = "export://"

// fileName returns the name of a stored file in an export: its key without the account and the mode.
func fileName(key string) string {
	parts := strings.SplitN(key, "/", 4)
	if len(parts) < 4 {
		return ""
	}
	return parts[0] + "/" + parts[3]
}

// objectKey returns the key of the n-th object of an export or import.
func objectKey(prefix string, o tenant.Owner, id, kind string, n int) string {
	ext := "jsonl"
	if kind == KindFiles {
		ext = "tar"
	}
	return fmt.Sprintf("%s%s/%s/%s/%s-%05d.%s", prefix, o.Account, o.Mode, id, kind, n, ext)
}

// The kinds of parts of exports, and of other objects of the worker.
const (
	KindLines = "lines"
	KindFiles = "files"
	kindNamed = "named" // the files that a part of lines names; for the worker alone
	kindMap   = "map"
)

// The MIME types of parts of lines and of parts of files.
const (
	linesType = "application/jsonl"
	filesType = "application/x-tar"
)

func mimeType(kind string) string {
	if kind == KindFiles {
		return filesType
	}
	return linesType
}

// keep is the time for which the parts of an export, and the map of an import, can be fetched.
const keep = 7 * 24 * time.Hour

// longest is the time after which an export or import that has not ended fails.
const longest = 24 * time.Hour

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, e.Client(safehttp.Options{}), e.Now).Register(r)
}

// record is the stored document of an export or import, of type R.
type record[R any] interface {
	*R
	// runs reports whether it has not ended.
	runs() bool
	Touch(now time.Time)
}

func (r *exportRecord) runs() bool { return r.State == Running }
func (r *importRecord) runs() bool { return r.State == Running }

// running reads the record of a step. It returns nil if the record does not exist or has ended.
func running[R any, P record[R]](ctx context.Context, db *store.DB, s *task.Run) (it store.Item, r P, err error) {
	it, err = db.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil || it.Kind == "" {
		return it, nil, err
	}
	r = new(R)
	if err = it.Decode(r); err != nil || !r.runs() {
		return it, nil, err
	}
	return it, r, nil
}

// changing returns what an outcome adds to its transaction: the record of its step with a change. The record is read
// anew, because another delivery of the step may have changed it.
func changing[R any, P record[R]](db *store.DB, s *task.Run, now func() time.Time,
	change func(*store.Tx, *store.Item, P) error) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		it, r, err := running[R, P](ctx, db, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
		}
		r.Touch(now())
		if err := change(tx, &it, r); err != nil {
			return err
		}
		return tx.Rewrite(it, r)
	}
}

// viewer shows the resources of items as their GET does.
type viewer struct {
	db    *store.DB
	names *media.Signer
	now   time.Time
}

// exported is a kind of resource in exports.
type exported struct {
	// name is the type of its lines, item the kind of its items in the table, and prefix that of its ids.
	name, item, prefix string
	of                 reflect.Type
	// partition returns the partition of store.Table that lists it. If it is nil, store.ByOwner does.
	partition func(tenant.Owner) string
	// view returns the resource of an item, or nil if callers do not see it.
	view func(context.Context, viewer, store.Item) (any, error)
}

// idMember is the member with the id of a resource. A feed has that of its factory.
func (k exported) idMember() string {
	if k.item == shelf.Kind {
		return "factory_id"
	}
	return "id"
}

// kindOf returns a kind of resource whose view is a function of its item.
func kindOf[T any](name, itemKind, prefix string, view func(context.Context, viewer, store.Item) (T, error)) exported {
	return exported{name: name, item: itemKind, prefix: prefix, of: reflect.TypeFor[T](),
		view: func(ctx context.Context, v viewer, it store.Item) (any, error) { return view(ctx, v, it) }}
}

// plain is a view that needs nothing but the item.
func plain[T any](read func(*store.Item) (T, error)) func(context.Context, viewer, store.Item) (T, error) {
	return func(_ context.Context, _ viewer, it store.Item) (T, error) { return read(&it) }
}

// decoded is the view of an item whose document is the resource.
func decoded[T any](it *store.Item) (v T, err error) { return v, it.Decode(&v) }

// kinds are the kinds of resources in exports, in their order: what others refer to comes first. What has secrets only,
// such as keys, or acts only by its address, such as review links, is not among them.
var kinds = []exported{
	kindOf("profile", profile.Kind, id.Profile, plain(decoded[profile.Profile])),
	kindOf("media", incoming.ItemKind, id.Media,
		func(ctx context.Context, v viewer, it store.Item) (incoming.Media, error) {
			r, err := incoming.Decode(&it)
			if err != nil {
				return incoming.Media{}, err
			}
			return r.View(ctx, v.names, it.Owner, v.now, false)
		}),
	kindOf("template", templaterecord.Kind, id.Template, plain(template.Decode)),
	kindOf("factory", factory.Kind, id.Factory, plain(factory.Decode)),
	kindOf("social_account", social.Kind, id.SocialAccount,
		plain(func(it *store.Item) (social.Account, error) {
			r, err := social.Decode(it)
			return r.View(), err
		})),
	kindOf("product", product.ItemKind, id.Product,
		func(ctx context.Context, v viewer, it store.Item) (product.Product, error) {
			r, err := product.Decode(&it)
			if err != nil {
				return product.Product{}, err
			}
			return r.View(ctx, v.names, it.Owner, v.now, false)
		}),
	kindOf("feed", shelf.Kind, id.Factory, plain(decoded[feed.Feed])),
	kindOf("promotion", product.PromotionKind, id.Promotion,
		func(_ context.Context, v viewer, it store.Item) (product.Promotion, error) {
			return product.DecodePromotion(&it, v.now)
		}),
	kindOf("experiment", experiment.ItemKind, id.Experiment,
		plain(func(it *store.Item) (experiment.Experiment, error) {
			r, err := experiment.Decode(it)
			return r.Experiment, err
		})),
	kindOf("content_plan", plan.ItemKind, id.ContentPlan,
		func(ctx context.Context, v viewer, it store.Item) (plan.Plan, error) {
			p, err := decoded[plan.Plan](&it)
			if err != nil {
				return p, err
			}
			found, err := plan.The(ctx, v.db, p.FactoryID, p.ID)
			if err != nil {
				return p, err
			}
			if now, ok, err := plan.Found(found, it.Owner); err != nil || ok {
				return now, err
			}
			return p, nil
		}),
	kindOf("content_item", item.ItemKind, id.ContentItem,
		func(ctx context.Context, v viewer, it store.Item) (item.Item, error) {
			r, err := item.Decode(&it)
			if err == nil {
				err = item.Attach(ctx, v.db, r)
			}
			if err != nil {
				return item.Item{}, err
			}
			return r.View(ctx, v.names)
		}),
	kindOf("comment", engagement.Kind, id.Comment,
		plain(func(it *store.Item) (engagement.Comment, error) {
			r, err := engagement.Decode(it)
			return r.Comment, err
		})),
	kindOf("generation", studio.ItemKind, id.Generation,
		func(ctx context.Context, v viewer, it store.Item) (studio.Generation, error) {
			r, err := studio.Decode(&it)
			if err != nil {
				return studio.Generation{}, err
			}
			return r.View(ctx, v.names)
		}),
	kindOf("automation", automation.ItemKind, id.Automation, plain(decoded[automation.Details])),
	{name: "webhook", item: webhook.Kind, prefix: id.Webhook, of: reflect.TypeFor[webhook.Webhook](),
		partition: webhook.List,
		view: func(_ context.Context, v viewer, it store.Item) (any, error) {
			r, err := decoded[webhook.WebhookRecord](&it)
			return r.View(v.now), err
		}},
	kindOf("proposal", advice.ProposalItemKind, id.Proposal, plain(decoded[advice.Proposal])),
	kindOf("diagnosis", advice.DiagnosisItemKind, id.Diagnosis, plain(decoded[advice.Diagnosis])),
	kindOf("training", training.ItemKind, id.Training,
		plain(func(it *store.Item) (training.Training, error) {
			r, err := decoded[training.Record](it)
			return r.View(), err
		})),
	kindOf("chat", architect.Kind, id.Chat,
		plain(func(it *store.Item) (architect.Chat, error) {
			r, err := architect.Decode(it)
			if err != nil {
				return architect.Chat{}, err
			}
			return r.View(&auth.Principal{Scopes: auth.AllScopes()}), nil
		})),
	kindOf("draft", architect.DraftKind, id.Draft, plain(decoded[architect.Draft])),
	kindOf("balance_entry", ledger.Kind, id.LedgerEntry,
		plain(func(it *store.Item) (ledger.Entry, error) { return ledger.EntryOf(*it) })),
}

// Resource is a type of resource in exports.
type Resource struct {
	// Name is the type of its lines.
	Name string
	Type reflect.Type
	// Kind is that of their items in the table.
	Kind string
}

// Resources returns the types of resources in exports, in their order.
func Resources() []Resource {
	all := make([]Resource, len(kinds))
	for i, k := range kinds {
		all[i] = Resource{k.name, k.of, k.item}
	}
	return all
}

// visible reports whether callers see a resource: a factory that was deleted stays in the table for a while.
func (k exported) visible(it store.Item) bool {
	return k.item != factory.Kind || it.Filters["state"] != factory.StateDeleted
}

// Rehearsal opens an export in a sandbox of one's own: simulated accounts stand for its social accounts, its webhooks
// send to an address, and what was, or is to be, published from a time on is published again, each post at its time.
type Rehearsal struct {
	DB       *store.DB
	Envelope *seal.Envelope
	// Put stores an object of the bucket.
	Put    func(key string, content io.Reader) error
	Random io.Reader
	Now    time.Time
	Owner  tenant.Owner
	// Webhooks is the address of all webhooks. If it is empty, they are disabled.
	Webhooks string
}

// SandboxExport is an export that was opened in a sandbox.
type SandboxExport struct {
	// Import is the id of the import, whose work is done next.
	Import string
	// Secrets are the signing secrets of the webhooks, by their ids.
	Secrets map[string]string
}

// Open opens the parts of an export, with their content.
func (r Rehearsal) Open(ctx context.Context, parts [][]byte) (out SandboxExport, err error) {
	out.Secrets = map[string]string{}
	t := &taker{}
	for i, content := range parts {
		if len(content) == 0 || content[0] != '{' {
			continue
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		lines.Buffer(make([]byte, 0, 64<<10), mostLine)
		for n := 1; lines.Scan(); n++ {
			var l Line
			err := json.Unmarshal(lines.Bytes(), &l)
			switch {
			case err != nil:
			case l.Kind == headerLine:
				err = t.header(i+1, lines.Bytes())
			case t.source == nil:
				err = fmt.Errorf("it does not begin with the header of an export")
			case l.Kind == "social_account" || l.Kind == "webhook" && r.Webhooks != "":
				err = r.adopt(ctx, names{r.Owner, t.source.ExportID}, l, out.Secrets)
			}
			if err != nil {
				return out, fmt.Errorf("line %d of part %d: %w", n, i+1, err)
			}
		}
		if err := lines.Err(); err != nil {
			return out, fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	if t.source == nil {
		return out, fmt.Errorf("no part has the header of an export")
	}
	tx := &store.Tx{}
	in, err := newImport(tx, r.Now, r.Owner, authority.Operator(), make([]partBody, len(parts)), nil, &r.Now)
	if err != nil {
		return out, err
	}
	at := &task.Run{Step: &task.Step{Task: task.Task{Message: task.Message{Subject: in.ID, Owner: r.Owner}}}}
	for i, content := range parts {
		if err := r.Put(partKey(at, i+1), bytes.NewReader(content)); err != nil {
			return out, err
		}
	}
	out.Import = in.ID
	return out, r.DB.Commit(ctx, tx)
}

// adopt creates the account or webhook of a line, before the import finds it.
func (r Rehearsal) adopt(ctx context.Context, ids names, l Line, secrets map[string]string) error {
	for _, k := range kinds {
		if k.name != l.Kind {
			continue
		}
		tree, err := parse(k, l.Data)
		if err != nil {
			return err
		}
		renamed := ids.tree(tree, map[string]string{}).(map[string]any)
		data, err := json.Marshal(renamed)
		if err != nil {
			return err
		}
		o := r.Owner
		if of, ok := renamed["profile_id"].(string); ok {
			o = o.Of(tenant.Profile(of))
		}
		tx := &store.Tx{}
		if l.Kind == "webhook" {
			err = r.webhook(ctx, tx, o, data, secrets)
		} else {
			err = r.account(ctx, tx, o, data)
		}
		if err != nil {
			return err
		}
		return r.DB.Commit(ctx, tx)
	}
	return nil
}

func (r Rehearsal) webhook(ctx context.Context, tx *store.Tx, o tenant.Owner, data []byte,
	secrets map[string]string) error {
	var w webhook.Webhook
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	secret, key, err := webhook.NewSecret(ctx, r.Random, r.Envelope, webhook.Ref{Owner: o, ID: w.ID})
	if err != nil {
		return err
	}
	secrets[w.ID] = key.Reveal()
	return rehearseWebhook(tx, o, w, r.Webhooks, secret)
}

func (r Rehearsal) account(ctx context.Context, tx *store.Tx, o tenant.Owner, data []byte) error {
	var a social.Account
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	if a.State != social.Connected && a.State != social.NeedsReconnect {
		return nil
	}
	err := social.Adopt(ctx, tx, r.Now, o, social.Vault{Envelope: r.Envelope}, a)
	if errs.CodeOf(err) == errs.InvalidState {
		return nil // a platform that the sandbox does not have
	}
	return err
}
