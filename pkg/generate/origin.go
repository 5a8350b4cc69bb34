package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Origin is what is known of the origin of media before they are composed.
type Origin struct {
	// Test reports whether a test key has asked for them: they are drafts, with a test certificate.
	Test bool
	Credit
	// GeneratedFiles are the generated files by their keys, with the model that has made each, if it is known. All
	// other files are the caller's.
	GeneratedFiles map[string]*provenance.Model
	// Models are all that took part, writers of texts included.
	Models []provenance.Model
}

// Credit is what a resource decides of the origin of its media.
type Credit struct {
	// Line names who provides the media. It may be empty.
	Line string
	// Prompt is the version of the prompt of the texts. It may be empty.
	Prompt string
	// Generated reports whether the caller has said that their own files were generated.
	Generated bool
}

// Crediting is Work whose media name more of their origin than their models.
type Crediting interface {
	Credit(made []PartResult) Credit
}

// origin returns the origin of the media that part n is composed of.
func (t *turn) origin(work Work) Origin {
	o := Origin{Test: t.Mode == tenant.Test, GeneratedFiles: map[string]*provenance.Model{}}
	if crediting, ok := work.(Crediting); ok {
		o.Credit = crediting.Credit(t.results())
	}
	known := map[string]bool{}
	for _, p := range t.Parts[:t.n] {
		for _, c := range p.Calls {
			if m := c.model(); m != nil && c.is(done) {
				if !known[m.ID] {
					o.Models = append(o.Models, *m)
				}
				known[m.ID] = true
			}
		}
		for _, f := range p.Result.Files {
			o.GeneratedFiles[f.Key] = p.Calls[0].model()
		}
	}
	return o
}

// model returns the model of a call, or nil if it has none.
func (c *call) model() *provenance.Model {
	m, ok := catalog.Find(cmp.Or(c.StandIn, c.Model))
	if !ok {
		return nil
	}
	return &provenance.Model{Name: m.Name, ID: m.ID, Maker: m.Provider}
}

// statement returns what a file that the call's model has made says of its origin.
func (c *call) statement() provenance.Statement {
	s := provenance.Statement{Source: provenance.Generated}
	if m := c.model(); m != nil {
		s.Systems = m.Name
	}
	return s
}

// The kinds of the entries of the register of finished files: by the hash of a file, and by parts of the hash of what a
// picture shows.
const (
	RegisterKind = "finished_file"
	LikenessKind = "finished_likeness"
)

// Entry is a finished file in the register.
type Entry struct {
	// Subject is the id of the content item or generation that has it, and File the id of the file.
	Subject string `json:"subject"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	// Likeness is the hash of what a picture shows, or empty.
	Likeness string `json:"likeness,omitempty"`
	// Models are the names of the models that took part.
	Models      []string      `json:"models,omitempty"`
	GeneratedAt resource.Time `json:"generated_at"`
	// Distance is the distance of the likeness for which the entry was found.
	Distance int `json:"-"`
}

// registerPartition is the partition of the entries of a hash. Entries with the same hash are of copies.
func registerPartition(o tenant.Owner, sha256 string) string {
	return "finished#" + o.String() + "#" + sha256
}

// alike is the partition of the entries with a band of a likeness.
func alike(o tenant.Owner, n int, band uint16) string {
	return fmt.Sprintf("alike#%s#%d-%04x", o, n, band)
}

// entriesOf is the partition of store.ByParent with the entries of a resource.
func entriesOf(subject string) string { return "finished#" + subject }

// Register adds the entries of finished files to the transaction. They stay as long as the files.
func Register(tx *store.Tx, o tenant.Owner, all []Entry) error {
	for _, e := range all {
		doc, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("generate: register %s: %w", e.File, err)
		}
		add := func(kind, partition string) {
			tx.Create(store.Item{Key: store.Key{PK: partition, SK: e.File}, Kind: kind, Owner: o, Doc: doc,
				Parent: store.Key{PK: entriesOf(e.Subject), SK: partition + "#" + e.File}}, nil)
		}
		add(RegisterKind, registerPartition(o, e.SHA256))
		if hash, ok := likenessOf(e.Likeness); ok {
			for i, band := range hash.Bands() {
				add(LikenessKind, alike(o, i, band))
			}
		}
	}
	return nil
}

func likenessOf(text string) (provenance.Likeness, bool) {
	hash, err := strconv.ParseUint(text, 16, 64)
	return provenance.Likeness(hash), err == nil && hash != 0
}

// entries returns the entries of the files that the last part has made, captions left out.
func (t *turn) entries(now time.Time) (all []Entry) {
	var models []string
	for _, m := range t.origin(nil).Models {
		models = append(models, m.Name)
	}
	for _, f := range t.Parts[len(t.Parts)-1].Result.Files {
		if f.Type != media.Captions {
			all = append(all, Entry{Subject: t.Subject, File: f.ID, SHA256: f.SHA256, Likeness: f.Likeness,
				Models: models, GeneratedAt: resource.Instant(now)})
		}
	}
	return all
}

// mostAlike bounds the entries of one band that are compared.
const mostAlike = 200

// Find returns the entry of a finished file of an owner by the hash of the file, or else the one with the nearest
// likeness, if there is one. Profiles see their own.
func Find(ctx context.Context, db *store.DB, o tenant.Owner, sha256, likeness string) (*Entry, error) {
	found, err := entriesIn(ctx, db, o, registerPartition(o, sha256), 1)
	if err != nil || len(found) > 0 {
		return first(found), err
	}
	hash, ok := likenessOf(likeness)
	if !ok {
		return nil, nil
	}
	for i, band := range hash.Bands() {
		near, err := entriesIn(ctx, db, o, alike(o, i, band), mostAlike)
		if err != nil {
			return nil, err
		}
		for _, e := range near {
			other, _ := likenessOf(e.Likeness)
			if e.Distance = hash.Distance(other); e.Distance <= provenance.MaxDistance {
				found = append(found, e)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Entry) int { return cmp.Compare(a.Distance, b.Distance) })
	return first(found), nil
}

func first(all []Entry) *Entry {
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

func entriesIn(ctx context.Context, db *store.DB, o tenant.Owner, partition string, most int) (all []Entry, err error) {
	page, err := db.List(ctx, store.Query{Index: store.Table, Partition: partition, Limit: most})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		var e Entry
		if err := it.Decode(&e); err != nil {
			return nil, err
		}
		if o.Sees(it.Owner) {
			all = append(all, e)
		}
	}
	return all, nil
}

// unregister removes the entries of a resource that was deleted.
func unregister(ctx context.Context, db *store.DB, subject string) error {
	return db.Each(ctx, store.Query{Index: store.ByParent, Partition: entriesOf(subject), Limit: mostAlike},
		func(it store.Item) error {
			tx := &store.Tx{}
			tx.Delete(it)
			return db.Commit(ctx, tx)
		})
}

// CertificateKind is the kind of the item with the certificate that signs live media.
const CertificateKind = "provenance_certificate"

// certificateKey is the key of the only item of its kind.
func certificateKey() store.Key { return store.IDKey("provenance-certificate") }

// certificate is the document of the item.
type certificate struct {
	// Chain has the certificate and those that have issued it, in PEM.
	Chain string `json:"chain"`
}

// Certificate returns the chain of the certificate that signs live media, in PEM. It is empty if the operator has set
// none.
func Certificate(ctx context.Context, db *store.DB) ([]byte, error) {
	it, err := db.Get(ctx, certificateKey())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var c certificate
	if err == nil {
		err = it.Decode(&c)
	}
	if err != nil {
		return nil, fmt.Errorf("generate: the certificate: %w", err)
	}
	return []byte(c.Chain), nil
}

// SetCertificate stores the chain of the certificate, in place of the one before. An empty one removes it.
func SetCertificate(ctx context.Context, db *store.DB, chain []byte) error {
	it, err := db.Get(ctx, certificateKey())
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return err
	}
	it.Key, it.Kind = certificateKey(), CertificateKind
	if err := it.Encode(certificate{string(chain)}); err != nil {
		return err
	}
	tx := &store.Tx{}
	if missing {
		tx.Create(it, store.ErrConflict)
	} else {
		tx.Replace(it)
	}
	return db.Commit(ctx, tx)
}
